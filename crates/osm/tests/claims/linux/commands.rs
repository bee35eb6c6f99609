//! x
use super::row::{Test, test};
use super::race::*;
pub(crate) const TESTS: &[Test] = &[test!(one_of_64_processes_wins_each_of_1000_rounds), test!(ten_items_go_to_ten_of_twenty_workers), test!(of_many_take_overs_one_stands_in_the_end)];
