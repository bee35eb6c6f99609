//! Which server, as whom, and how safely: an address, completed by the variables that libpq uses.
//!
//! A value in the address counts before a variable, as in libpq. The variables are given by the caller, and
//! files (certificates, passwords) are read when a connection is opened.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

use crate::error::{Error, Kind, Result};
use crate::passfile;
use crate::url::{self, Url};

/// The variables that are looked up.
pub const VARIABLES: &[&str] = &[
    "PGHOST",
    "PGPORT",
    "PGDATABASE",
    "PGUSER",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "PGSSLCERT",
    "PGSSLKEY",
    "PGCONNECT_TIMEOUT",
    "PGTARGETSESSIONATTRS",
];

/// What can follow `?` in an address.
const PARAMETERS: &str = "host, port, user, dbname, password, passfile, sslmode, sslrootcert, sslcert, \
    sslkey, connect_timeout, target_session_attrs and application_name";

const DEFAULT_PORT: u16 = 5432;
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Where Debian and most others have the sockets.
const SOCKETS: &str = "/var/run/postgresql";

/// How far the connection is encrypted and the server checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SslMode {
    /// Not at all.
    Disable,
    /// Encrypted if the server can; its certificate is not checked.
    #[default]
    Prefer,
    /// Encrypted; the certificate is checked only if a root certificate is given.
    Require,
    /// Encrypted, with a certificate of a known authority.
    VerifyCa,
    /// Encrypted, with a certificate of a known authority for this host.
    VerifyFull,
}

impl SslMode {
    const NAMES: [(&str, Self); 5] = [
        ("disable", Self::Disable),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    fn parse(text: &str) -> std::result::Result<Self, String> {
        // libpq has a mode that tries without encryption first; to try with it is at least as good.
        let text = if text == "allow" { "prefer" } else { text };
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, mode)| *mode).ok_or_else(|| {
            format!(
                "sslmode must be disable, prefer, require, verify-ca or verify-full, not {text:?}"
            )
        })
    }
}

/// A host and a port, or a folder with a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name or address; a folder if it begins with `/`.
    pub name: String,
    /// The port.
    pub port: u16,
}

impl Host {
    /// Whether it is a socket in the file system.
    #[must_use]
    pub fn is_socket(&self) -> bool {
        self.name.starts_with('/')
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

/// A secret, which is not shown.
#[derive(Clone, PartialEq, Eq)]
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Certificates, as files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Certificates {
    /// The authorities; `system` for those of the machine.
    pub(crate) root: Option<PathBuf>,
    /// Our certificate and its key.
    pub(crate) client: Option<(PathBuf, PathBuf)>,
}

/// A server and how to connect to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    hosts: Vec<Host>,
    user: String,
    database: String,
    password: Option<Secret>,
    passfile: Option<PathBuf>,
    ssl_mode: SslMode,
    certificates: Certificates,
    connect_timeout: Duration,
    wants_primary: bool,
    application: String,
}

impl Server {
    /// The server of an address, completed by variables. `variable` gives the value of each of [`VARIABLES`], and
    /// of `HOME` and `USER`.
    pub fn new(address: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let invalid = |reason| Error::new(Kind::Settings, "the configured address", reason);
        let url = url::parse(address).map_err(invalid)?;
        Self::from_url(url, variable).map_err(invalid)
    }

    fn from_url(
        mut url: Url,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> std::result::Result<Self, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut take = |names: (&str, &str)| -> Option<String> {
            let at = url.parameters.iter().position(|(name, _)| name == names.0);
            at.map(|at| url.parameters.remove(at).1)
                .filter(|value| !value.is_empty())
                .or_else(|| (!names.1.is_empty()).then(|| variable(names.1)).flatten())
        };
        let (host, port) = (take(("host", "PGHOST")), take(("port", "PGPORT")));
        let user = url.user.or_else(|| take(("user", "PGUSER")));
        let database = url.database.or_else(|| take(("dbname", "PGDATABASE")));
        let password = url.password.or_else(|| take(("password", "PGPASSWORD")));
        let passfile = take(("passfile", "PGPASSFILE"));
        let ssl_mode = take(("sslmode", "PGSSLMODE"));
        let root = take(("sslrootcert", "PGSSLROOTCERT"));
        let (certificate, key) = (take(("sslcert", "PGSSLCERT")), take(("sslkey", "PGSSLKEY")));
        let connect_timeout = take(("connect_timeout", "PGCONNECT_TIMEOUT"));
        let target = take(("target_session_attrs", "PGTARGETSESSIONATTRS"));
        let application = take(("application_name", ""));
        // Its name may be the rest of a password with an unescaped `?`.
        if !url.parameters.is_empty() {
            return Err(format!("the address has an unknown parameter; known are {PARAMETERS}"));
        }

        let home = variable("HOME").map(PathBuf::from);
        let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let existing =
            |name: &str| in_home(&format!(".postgresql/{name}")).filter(|path| path.is_file());
        let names =
            variable("USER").or_else(|| variable("LOGNAME")).or_else(|| variable("USERNAME"));
        let user = user.or(names).ok_or("the address has no user, and PGUSER is not set")?;
        let client = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => existing("postgresql.crt").zip(existing("postgresql.key")),
            (Some(_), None) => return Err("sslcert is set, and sslkey is not".into()),
            (None, Some(_)) => return Err("sslkey is set, and sslcert is not".into()),
        };
        Ok(Self {
            hosts: hosts(url.hosts, host, port.as_deref())?,
            database: database.unwrap_or_else(|| user.clone()),
            user,
            password: password.map(Secret),
            passfile: passfile.map(PathBuf::from).or_else(|| in_home(".pgpass")),
            ssl_mode: ssl_mode.map_or(Ok(SslMode::default()), |mode| SslMode::parse(&mode))?,
            certificates: Certificates {
                root: root.map(PathBuf::from).or_else(|| existing("root.crt")),
                client,
            },
            connect_timeout: seconds(connect_timeout)?,
            wants_primary: wants_primary(target.as_deref())?,
            application: application.unwrap_or_else(|| "osm".to_owned()),
        })
    }

    /// The same server, with another name for this program in the server's list of connections.
    #[must_use]
    pub fn named(self, application: &str) -> Self {
        Self { application: application.to_owned(), ..self }
    }

    /// Whether the address or a variable has a password in it.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// The hosts, in the order in which they are tried.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The time limit of connecting, for all hosts together.
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.connect_timeout.saturating_mul(u32::try_from(self.hosts.len()).unwrap_or(1))
    }

    pub(crate) fn ssl_mode(&self) -> SslMode {
        // A socket does not leave the machine, and a server does not encrypt it.
        if self.hosts.iter().all(Host::is_socket) { SslMode::Disable } else { self.ssl_mode }
    }

    pub(crate) fn certificates(&self) -> &Certificates {
        &self.certificates
    }

    /// The same for the client library, with the password.
    pub(crate) fn config(&self) -> Result<Config> {
        let mut config = Config::new();
        for host in &self.hosts {
            config.host(&host.name).port(host.port);
        }
        config.user(&self.user).dbname(&self.database).application_name(&self.application);
        config.connect_timeout(self.connect_timeout);
        config.ssl_mode(match self.ssl_mode() {
            SslMode::Disable => tokio_postgres::config::SslMode::Disable,
            SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
            _ => tokio_postgres::config::SslMode::Require,
        });
        if self.wants_primary {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if let Some(password) = self.password()? {
            config.password(password);
        }
        Ok(config)
    }

    fn password(&self) -> Result<Option<String>> {
        if let Some(Secret(password)) = &self.password {
            return Ok(Some(password.clone()));
        }
        let Some(file) = &self.passfile else { return Ok(None) };
        for host in &self.hosts {
            let found = passfile::look_up(Path::new(file), host, &self.database, &self.user);
            let found = found.map_err(|reason| Error::new(Kind::Settings, self, reason))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Who, where: `user@host:port/database`, without a password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@", self.user)?;
        for (at, host) in self.hosts.iter().enumerate() {
            write!(f, "{}{host}", if at == 0 { "" } else { "," })?;
        }
        write!(f, "/{}", self.database)
    }
}

fn hosts(
    named: Vec<(String, Option<String>)>,
    host: Option<String>,
    port: Option<&str>,
) -> std::result::Result<Vec<Host>, String> {
    let mut named = named;
    if named.is_empty() {
        let host = host.unwrap_or_else(|| {
            let has_sockets = cfg!(unix) && Path::new(SOCKETS).is_dir();
            if has_sockets { SOCKETS } else { "localhost" }.to_owned()
        });
        named.extend(host.split(',').map(|host| (host.to_owned(), None)));
    }
    let others: Vec<&str> = port.unwrap_or_default().split(',').collect();
    let host = |(at, (name, port)): (usize, (String, Option<String>))| {
        let port = port.as_deref().or_else(|| others.get(at).or(others.first()).copied());
        let port = match port.unwrap_or_default() {
            "" => DEFAULT_PORT,
            port => port.parse().map_err(|_| {
                "a port is not a number; a / or @ in a password is written as %2F or %40".to_owned()
            })?,
        };
        Ok(Host { name, port })
    };
    named.into_iter().enumerate().map(host).collect()
}

/// A time limit in seconds; 0 means none in libpq, and here the default: every call ends.
fn seconds(text: Option<String>) -> std::result::Result<Duration, String> {
    let Some(text) = text else { return Ok(DEFAULT_CONNECT_TIMEOUT) };
    match text.parse() {
        Ok(0) => Ok(DEFAULT_CONNECT_TIMEOUT),
        Ok(seconds) => Ok(Duration::from_secs(u64::from(u16::min(seconds, 600)))),
        Err(_) => Err(format!("connect_timeout must be a number of seconds, not {text:?}")),
    }
}

fn wants_primary(target: Option<&str>) -> std::result::Result<bool, String> {
    match target {
        None | Some("any") => Ok(false),
        Some("read-write" | "primary") => Ok(true),
        Some(other) => {
            Err(format!("target_session_attrs must be any or read-write, not {other:?}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str, variables: &[(&str, &str)]) -> Result<Server> {
        let variable = |name: &str| {
            variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
        };
        Server::new(address, &variable)
    }

    fn valid(address: &str, variables: &[(&str, &str)]) -> Server {
        server(address, variables).unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    #[test]
    fn an_address_is_completed_by_variables() {
        let variables =
            [("PGHOST", "other"), ("PGPORT", "6000"), ("PGUSER", "them"), ("PGDATABASE", "d")];
        for (address, variables, expected) in [
            ("postgres://me@db/team", &variables[..], "me@db:6000/team"),
            ("postgres://me@db:1,[::1]:2/team", &[], "me@db:1,[::1]:2/team"),
            ("postgres://", &variables[..], "them@other:6000/d"),
            ("postgres:///?host=/tmp&user=u&port=7", &[], "u@/tmp:7/u"),
            ("postgres://db", &[("USER", "login")], "login@db:5432/login"),
        ] {
            assert_eq!(valid(address, variables).to_string(), expected, "{address}");
        }
    }

    #[test]
    fn no_password_is_shown() {
        let variables = [("PGPASSWORD", "se:cret"), ("USER", "me")];
        for address in
            ["postgres://u:se%3Acret@h/d", "postgres://h/d?password=se:cret", "postgres://h"]
        {
            let server = valid(address, &variables);
            let shown = format!("{server} {server:?}");
            assert!(!shown.contains("cret"), "{shown}");
            let config = server.config().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(config.get_password(), Some(&b"se:cret"[..]));
        }
        for address in [
            "postgres://u:secret@h:x",
            "postgres://u:secret@h?no=1",
            "postgres://u:secret@h?sslmode=no",
            "u:secret@h",
            "postgres://u:secret@h?sslcert=c",
            "postgres://u:secret/x@h",
            "postgres://u:x?secret@h",
            "postgres://u:secret@h?connect_timeout=x",
            "postgres://:secret@h",
        ] {
            let Err(error) = server(address, &[]) else { panic!("{address} is not valid") };
            assert_eq!(error.kind(), Kind::Settings);
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
