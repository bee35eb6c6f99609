//! `URL` and `URLSearchParams`.

use serde_json::json;

use super::{check, refuse};
use crate::harness::Stage;

/// A URL, its base, and its parts: href, origin, protocol, username, password, host, hostname, port,
/// pathname, search, hash.
const URLS: &[(&str, &str, Option<&str>)] = &[
    (
        "http://user:pass@foo:21/bar;par?b#c",
        "",
        Some(
            "http://user:pass@foo:21/bar;par?b#c http://foo:21 http: user pass foo:21 foo 21 /bar;par ?b #c",
        ),
    ),
    (
        "https://EXAMPLE.com:443/a/../b/./c",
        "",
        Some(
            "https://example.com/b/c https://example.com https:   example.com example.com  /b/c  ",
        ),
    ),
    ("  http://a/b\tc\nd \u{0}", "", Some("http://a/bcd http://a http:   a a  /bcd  ")),
    ("//x.y/z", "https://a/b", Some("https://x.y/z https://x.y https:   x.y x.y  /z  ")),
    ("../c?d#e", "http://a/b/x/y?q#f", Some("http://a/b/c?d#e http://a http:   a a  /b/c ?d #e")),
    ("?d", "http://a/b?q#f", Some("http://a/b?d http://a http:   a a  /b ?d ")),
    ("#e", "http://a/b?q#f", Some("http://a/b?q#e http://a http:   a a  /b ?q #e")),
    ("", "http://a/b?q#f", Some("http://a/b?q http://a http:   a a  /b ?q ")),
    ("\\x\\y", "http://a/b", Some("http://a/x/y http://a http:   a a  /x/y  ")),
    ("http:c", "http://a/b/d", Some("http://a/b/c http://a http:   a a  /b/c  ")),
    ("http://a b/", "", None),
    (
        "http://[::1]:8080/",
        "",
        Some("http://[::1]:8080/ http://[::1]:8080 http:   [::1]:8080 [::1] 8080 /  "),
    ),
    (
        "http://[2001:DB8:0:0:1:0:0:1]",
        "",
        Some(
            "http://[2001:db8::1:0:0:1]/ http://[2001:db8::1:0:0:1] http:   [2001:db8::1:0:0:1] [2001:db8::1:0:0:1]  /  ",
        ),
    ),
    (
        "http://[::127.0.0.1]",
        "",
        Some("http://[::7f00:1]/ http://[::7f00:1] http:   [::7f00:1] [::7f00:1]  /  "),
    ),
    ("http://[1::2::3]", "", None),
    ("http://[1:2:3:4:5:6:7]", "", None),
    ("http://[1:2:3:4:5:6:7::8]", "", None),
    (
        "http://0x7f.1/",
        "",
        Some("http://127.0.0.1/ http://127.0.0.1 http:   127.0.0.1 127.0.0.1  /  "),
    ),
    (
        "http://4294967295",
        "",
        Some(
            "http://255.255.255.255/ http://255.255.255.255 http:   255.255.255.255 255.255.255.255  /  ",
        ),
    ),
    ("http://256.256.256.256", "", None),
    ("http://1.2.3.08", "", None),
    ("http://foo.0x", "", None),
    (
        "http://%65xample.com./",
        "",
        Some("http://example.com./ http://example.com. http:   example.com. example.com.  /  "),
    ),
    ("http://a%zz", "", None),
    (
        "http://bücher.example/ä?ö#ü",
        "",
        Some(
            "http://xn--bcher-kva.example/%C3%A4?%C3%B6#%C3%BC http://xn--bcher-kva.example http:   xn--bcher-kva.example xn--bcher-kva.example  /%C3%A4 ?%C3%B6 #%C3%BC",
        ),
    ),
    (
        "http://例え.テスト",
        "",
        Some(
            "http://xn--r8jz45g.xn--zckzah/ http://xn--r8jz45g.xn--zckzah http:   xn--r8jz45g.xn--zckzah xn--r8jz45g.xn--zckzah  /  ",
        ),
    ),
    ("http://Ｇｏ.com", "", Some("http://go.com/ http://go.com http:   go.com go.com  /  ")),
    ("http://a:99999/", "", None),
    ("http://a:b/", "", None),
    ("http://a:/", "", Some("http://a/ http://a http:   a a  /  ")),
    ("http://", "", None),
    ("http://@/x", "", None),
    ("http://a@b@c/", "", Some("http://a%40b@c/ http://c http: a%40b  c c  /  ")),
    ("http://a:b:c@d/", "", Some("http://a:b%3Ac@d/ http://d http: a b%3Ac d d  /  ")),
    ("file:///C:/a/../..", "", Some("file:///C:/ null file:      /C:/  ")),
    ("file://localhost/x", "", Some("file:///x null file:      /x  ")),
    ("file:c|/d", "", Some("file:///c:/d null file:      /c:/d  ")),
    ("x", "file:///C:/a/b", Some("file:///C:/a/x null file:      /C:/a/x  ")),
    (
        "mailto:ada@x.y?subject=Hi",
        "",
        Some("mailto:ada@x.y?subject=Hi null mailto:      ada@x.y ?subject=Hi "),
    ),
    (
        "data:text/plain,a b #c",
        "",
        Some("data:text/plain,a b%20#c null data:      text/plain,a%b%%20  #c"),
    ),
    ("git+ssh://h/p/../q", "", Some("git+ssh://h/q null git+ssh:   h h  /q  ")),
    ("web+x:/..//p", "", Some("web+x:/.//p null web+x:      //p  ")),
    ("blob:https://a.b/c", "", Some("blob:https://a.b/c https://a.b blob:      https://a.b/c  ")),
    (
        "http://a/%2e%2E/b'\"<>`{}^|?'\"#`",
        "",
        Some(
            "http://a/b'%22%3C%3E%60%7B%7D%5E|?%27%22#%60 http://a http:   a a  /b'%22%3C%3E%60%7B%7D%5E| ?%27%22 #%60",
        ),
    ),
    ("relative", "", None),
    ("x", "mailto:a", None),
    ("#x", "mailto:a", Some("mailto:a#x null mailto:      a  #x")),
    ("http://a/\u{1f600}", "", Some("http://a/%F0%9F%98%80 http://a http:   a a  /%F0%9F%98%80  ")),
];

#[test]
fn urls() {
    let stage = Stage::new();
    for &(text, base, expected) in URLS {
        let (text, base) = (json!(text), if base.is_empty() { json!(null) } else { json!(base) });
        let source = format!(
            "{{ const u = URL.parse({text}, {base} ?? undefined); u && [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash].join(' ') }}"
        );
        // A space of an opaque path stands for itself.
        let expected = expected.map(|it| it.replace("a%b%%20", "a b%20"));
        assert_eq!(stage.value(&source), json!(expected), "{text} at {base}");
        assert_eq!(
            stage.value(&format!("URL.canParse({text}, {base} ?? undefined)")),
            json!(expected.is_some()),
            "{text}"
        );
    }
    refuse(
        &stage,
        &[
            ("new URL('x')", "TypeError"),
            ("new URL()", "TypeError"),
            ("new URL('/x', 'y')", "TypeError"),
            ("URL('http://a')", "TypeError"),
            ("new URL('http://a').href = 'x'", "TypeError"),
        ],
    );
}

#[test]
fn parts_of_a_url_can_be_set() {
    let stage = Stage::new();
    for (text, change, expected) in [
        ("http://a/b?c#d", "protocol = 'https'", "https://a/b?c#d"),
        ("http://a/b", "protocol = 'mailto'", "http://a/b"),
        ("https://a:80/b", "protocol = 'http:xx'", "http://a/b"),
        ("http://u@a/", "protocol = 'file'", "http://u@a/"),
        ("http://a/", "username = 'x:y'", "http://x%3Ay@a/"),
        ("http://a/", "password = 'p@'", "http://:p%40@a/"),
        ("file:///a", "username = 'x'", "file:///a"),
        ("http://a:1/b", "host = 'c:2'", "http://c:2/b"),
        ("http://a:1/b", "host = 'c'", "http://c:1/b"),
        ("http://a:1/b", "host = ''", "http://a:1/b"),
        ("http://a:1/b", "hostname = 'c:2'", "http://a:1/b"),
        ("http://a:1/b", "hostname = 'd e'", "http://a:1/b"),
        ("http://a:1/b", "hostname = 'D/x'", "http://d:1/b"),
        ("mailto:a", "host = 'b'", "mailto:a"),
        ("http://a/", "port = '8080x'", "http://a:8080/"),
        ("http://a:8/", "port = '80'", "http://a/"),
        ("http://a:8/", "port = ''", "http://a/"),
        ("http://a:8/", "port = 'x'", "http://a:8/"),
        ("http://a:8/", "port = '65536'", "http://a:8/"),
        ("http://a/b?c", "pathname = 'x y/../z?'", "http://a/z%3F?c"),
        ("http://a/b", "pathname = ''", "http://a/"),
        ("mailto:a", "pathname = 'b'", "mailto:a"),
        ("http://a/?b", "search = ''", "http://a/"),
        ("http://a/?b", "search = '?x=#1'", "http://a/?x=%231"),
        ("http://a/#b", "hash = 'c d'", "http://a/#c%20d"),
        ("http://a/#b", "hash = ''", "http://a/"),
        ("http://a/", "href = 'ftp://x:21/y'", "ftp://x/y"),
        ("http://a/?b=1", "searchParams.append('c', 'd e&')", "http://a/?b=1&c=d+e%26"),
        ("http://a/?b=1", "searchParams.delete('b')", "http://a/"),
    ] {
        let source = format!(
            "{{ const u = new URL('{text}'); u.{change}; [u.href, String(u), JSON.stringify(u)] }}"
        );
        assert_eq!(
            stage.value(&source),
            json!([expected, expected, format!("\"{expected}\"")]),
            "{text}, {change}"
        );
    }
    check(
        &stage,
        &[
            (
                "const u = new URL('http://a/?b=1'); const p = u.searchParams; u.search = '?x=2'; [p.get('x'), p.has('b'), p === u.searchParams]",
                json!(["2", false, true]),
            ),
            (
                "const u = new URL('http://a/?b=1'); u.href = 'http://c/?d=3'; u.searchParams.get('d')",
                json!("3"),
            ),
        ],
    );
}

#[test]
fn search_params() {
    let stage = Stage::new();
    check(
        &stage,
        &[
            (
                "[...new URLSearchParams('?a=1&b=2&a=%33+x&&c&=d')]",
                json!([["a", "1"], ["b", "2"], ["a", "3 x"], ["c", ""], ["", "d"]]),
            ),
            (
                "String(new URLSearchParams({ a: \"1 2&=+%*-._~'()!\", ä: '€' }))",
                json!("a=1+2%26%3D%2B%25*-._%7E%27%28%29%21&%C3%A4=%E2%82%AC"),
            ),
            ("String(new URLSearchParams([['a', 'b'], new Set(['c', 'd'])]))", json!("a=b&c=d")),
            (
                "const one = new URLSearchParams('a=1'); const other = new URLSearchParams(one); other.append('b', 2); [String(one), String(other), other.size]",
                json!(["a=1", "a=1&b=2", 2]),
            ),
            (
                "const p = new URLSearchParams('a=1&b=2&a=3'); [p.get('a'), p.getAll('a'), p.get('z'), p.has('a', '3'), p.has('a', '4'), p.has('b', undefined)]",
                json!(["1", ["1", "3"], null, true, false, true]),
            ),
            (
                "const p = new URLSearchParams('a=1&b=2&a=3'); p.set('a', 'x'); p.set('c', 'y'); String(p)",
                json!("a=x&b=2&c=y"),
            ),
            (
                "const p = new URLSearchParams('a=1&b=2&a=3'); p.delete('a', '3'); p.delete('b'); String(p)",
                json!("a=1"),
            ),
            (
                "const p = new URLSearchParams('z=1&\\ufffd=2&😀=3&a=4&z=0'); p.sort(); [...p.keys()]",
                json!(["a", "z", "z", "😀", "\u{fffd}"]),
            ),
            (
                "const p = new URLSearchParams('a=1&b=2'); const seen = []; p.forEach(function (value, name, all) { seen.push(name + value + (all === p) + this.x) }, { x: 7 }); [seen, [...p.values()], [...p.entries()]]",
                json!([["a1true7", "b2true7"], ["1", "2"], [["a", "1"], ["b", "2"]]]),
            ),
            ("[...new URLSearchParams('a=%zz%ff%')]", json!([["a", "%zz\u{fffd}%"]])),
            (
                "[String(new URLSearchParams()), String(new URLSearchParams('')), String(new URLSearchParams(null)), Object.prototype.toString.call(new URLSearchParams())]",
                json!(["", "", "null=", "[object URLSearchParams]"]),
            ),
        ],
    );
    refuse(
        &stage,
        &[
            ("new URLSearchParams([['a']])", "TypeError"),
            ("new URLSearchParams([1])", "TypeError"),
            ("new URLSearchParams().append('a')", "TypeError"),
            ("new URLSearchParams().get()", "TypeError"),
        ],
    );
}
