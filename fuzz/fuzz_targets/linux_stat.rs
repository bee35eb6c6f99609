//! `/proc/PID/stat`: whatever a process calls itself, the fields behind its name are read.

#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use osm_identity::parse::linux_stat::parse;
use osm_identity::{Pid, StartTime, Terminal};

fuzz_target!(|bytes: &[u8]| {
    // As it comes; the pid asked for is the one that the line begins with, if it does.
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let pid = std::str::from_utf8(&bytes[..digits]).ok().and_then(|text| text.parse().ok());
    if let Ok(process) = parse(bytes, Pid(pid.unwrap_or(1))) {
        assert_eq!(Some(process.pid.0), pid);
    }
    // Running out of bytes is no finding.
    let _ = round_trip(&mut Unstructured::new(bytes));
});

/// A line as the kernel writes it, with any name.
fn round_trip(input: &mut Unstructured) -> Result<()> {
    let (pid, parent, start) =
        (input.arbitrary::<u32>()?, input.arbitrary::<u32>()?, input.arbitrary::<u64>()?);
    let (session, terminal) = (input.arbitrary::<u32>()?, input.arbitrary::<i32>()?);
    let name = input.bytes(input.len())?;
    let line = [
        format!("{pid} (").as_bytes(),
        name,
        format!(
            ") S {parent} 7 {session} {terminal} 7 4194304 1 0 0 0 0 0 0 0 20 0 1 0 {start} 0 0\n"
        )
        .as_bytes(),
    ]
    .concat();
    let process = parse(&line, Pid(pid)).expect("the kernel's own form");
    assert_eq!(
        (process.pid, process.parent, process.start),
        (Pid(pid), Pid(parent), StartTime(start))
    );
    assert_eq!(process.name, String::from_utf8_lossy(name));
    assert_eq!(process.session, (session != 0).then_some(Pid(session)));
    assert_eq!(
        process.terminal,
        (terminal > 0).then(|| Terminal(u64::from(terminal.unsigned_abs())))
    );
    Ok(())
}
