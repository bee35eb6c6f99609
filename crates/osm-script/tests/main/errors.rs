//! What the author of a script sees when it fails.

use osm_script::Kind;

use crate::harness::Stage;

#[test]
fn an_error_tells_its_place_and_shows_the_line() {
    let stage = Stage::new();
    let error = stage.error("const a = 1;\nfunction go() {\n    a.b.c();\n}\ngo();");
    assert_eq!(error.kind, Kind::Thrown);
    assert_eq!(error.name, "TypeError");
    assert!(error.to_string().starts_with("test.js:3:"), "{error}");
    let place = error.place.unwrap();
    assert_eq!((place.file.as_str(), place.line), ("test.js", 3));
    assert_eq!(place.excerpt.as_deref(), Some("    a.b.c();"));
    assert!(place.stack[0].starts_with("go (test.js:3:"), "{:?}", place.stack);
}

#[test]
fn a_text_that_cannot_be_parsed_tells_where() {
    let stage = Stage::new();
    let error = stage.error("let ok = 1;\nlet = = 2;\n");
    let place = error.place.unwrap();
    assert_eq!((error.name.as_str(), place.line), ("SyntaxError", 2));
    assert_eq!(place.excerpt.as_deref(), Some("let = = 2;"));
}

#[test]
fn anything_can_be_thrown() {
    let stage = Stage::new();
    for (source, shown) in [
        ("throw 'a text'", "a text"),
        ("throw { code: 7 }", "{\"code\":7}"),
        ("throw null", "null"),
        ("throw undefined", "null"),
        ("throw new DOMException('of the web', 'AbortError')", "of the web"),
        ("globalThis.DOMException = 7; throw { a: 1 }", "{\"a\":1}"),
        ("throw 1n", "a value of type"),
        ("throw Symbol('x')", "null"),
        ("const a = {}; a.a = a; throw a", "a value of type object"),
        ("throw { toJSON() { throw 1 } }", "a value of type object"),
        ("Promise.reject(new RangeError('later'))", "later"),
        ("(async () => { throw new Error('in a promise') })()", "in a promise"),
        ("Promise.reject('nobody catches'); 1", "nobody catches"),
        ("setTimeout(() => { throw new Error('in a timer') }, 1); 1", "in a timer"),
    ] {
        let error = stage.error(source);
        assert!(error.message.contains(shown), "{source}: {error:?}");
        assert_eq!(stage.value("1"), 1, "after {source}");
    }
    assert_eq!(stage.value("Promise.reject(1).catch(() => 'caught')"), "caught");
    let error = stage.error("new Promise(() => {})");
    assert!(error.message.contains("never settles"), "{error}");
}
