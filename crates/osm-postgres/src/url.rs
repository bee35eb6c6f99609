//! Addresses of the form `postgres://user:password@host:port,host:port/database?name=value`.
//!
//! What is wrong is said without the address, which may have a password in it.

/// An address, in parts. Nothing is checked but its form.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// Hosts with their ports, if they are given.
    pub(crate) hosts: Vec<(String, Option<String>)>,
    pub(crate) database: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
}

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

pub(crate) fn parse(text: &str) -> Result<Url, String> {
    let rest = SCHEMES.iter().find_map(|scheme| text.trim().strip_prefix(scheme));
    let Some(rest) = rest else {
        return Err("the address does not begin with postgres://".into());
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut url = Url::default();
    // A password may have an unescaped `@` in it.
    let hosts = match authority.rsplit_once('@') {
        Some((credentials, hosts)) => {
            let (user, password) = match credentials.split_once(':') {
                Some((user, password)) => (user, Some(decode(password)?)),
                None => (credentials, None),
            };
            url.user = some(decode(user)?);
            url.password = password;
            hosts
        }
        None => authority,
    };
    for host in hosts.split(',').filter(|host| !host.is_empty()) {
        url.hosts.push(split_port(host)?);
    }
    url.database = some(decode(path)?);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        url.parameters.push((decode(name)?, decode(value)?));
    }
    Ok(url)
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn split_port(host: &str) -> Result<(String, Option<String>), String> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, rest) = rest.split_once(']').ok_or("a host has [ without ]")?;
            (name, rest.strip_prefix(':'))
        }
        None => match host.rsplit_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    Ok((decode(name)?, port.filter(|port| !port.is_empty()).map(str::to_owned)))
}

/// Replaces `%XX`.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or("the address has a % without two hexadecimal digits")?);
        rest = &after[2..];
    }
    let text = String::from_utf8(bytes).map_err(|_| "the address is not UTF-8")?;
    if text.contains('\0') {
        return Err("the address has a zero byte in it".into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_parts() {
        let parsed = parse(
            "postgres://me:p%40ss@w@db.example:5433,[::1],%2Frun%2Fpg:1/te%20am?sslmode=require&a",
        );
        let Ok(url) = parsed else { panic!("it is valid") };
        assert_eq!(url.user.as_deref(), Some("me"));
        assert_eq!(url.password.as_deref(), Some("p@ss@w"));
        let hosts: Vec<_> =
            url.hosts.iter().map(|(host, port)| (host.as_str(), port.as_deref())).collect();
        assert_eq!(hosts, [("db.example", Some("5433")), ("::1", None), ("/run/pg", Some("1"))]);
        assert_eq!(url.database.as_deref(), Some("te am"));
        let parameters = [("sslmode", "require"), ("a", "")];
        assert_eq!(
            url.parameters,
            parameters.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert!(parse("postgresql://").is_ok_and(|url| url == Url::default()));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_address() {
        for text in [
            "mysql://u:secret@h",
            "postgres://u:secret%g0@h",
            "postgres://u:secret@[::1",
            "postgres://u:secret%00@h",
            "postgres://u:secret%ff@h",
            "postgres://u:secret%2@h",
        ] {
            let Err(reason) = parse(text) else { panic!("{text} is not valid") };
            assert!(!reason.contains("secret"), "{reason}");
        }
    }
}
