//! The password file of libpq: a line for each server, `host:port:database:user:password`.

use std::fs;
use std::io;
use std::path::Path;

use crate::server::Host;

/// The password for a connection; `None` if the file has none, or does not exist.
pub(crate) fn look_up(
    file: &Path,
    host: &Host,
    database: &str,
    user: &str,
) -> Result<Option<String>, String> {
    let cannot =
        |error: io::Error| format!("cannot read password file {}: {error}", file.display());
    let text = match fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(error)),
    };
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(file).map_err(cannot)?);
        if mode & 0o077 != 0 {
            let file = file.display();
            return Err(format!(
                "other users can read password file {file}: run `chmod 600 {file}`"
            ));
        }
    }
    // A socket is `localhost` there.
    let name = if host.is_socket() { "localhost" } else { &host.name };
    let wanted = [name, &host.port.to_string(), database, user];
    Ok(text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password(line, &wanted)))
}

/// The password of a line, if it is about this connection.
fn password(line: &str, wanted: &[&str; 4]) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => fields.last_mut()?.extend(rest.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            next => fields.last_mut()?.push(next),
        }
    }
    let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
    let is_it = fields.len() == 5 && fields.iter().zip(wanted).all(fits);
    is_it.then(|| fields.pop()).flatten()
}

#[cfg(test)]
mod tests {
    use super::password;

    #[test]
    fn the_first_line_that_fits() {
        let wanted = ["db", "5432", "team", "me"];
        for (line, expected) in [
            ("db:5432:team:me:secret", Some("secret")),
            ("*:*:*:*:se:cret", Some("se:cret")),
            (r"*:*:*:me:a\\b\:c", Some(r"a\b:c")),
            ("other:*:*:*:secret", None),
            ("db:5432:team:secret", None),
            ("", None),
        ] {
            assert_eq!(password(line, &wanted).as_deref(), expected, "{line}");
        }
    }
}
