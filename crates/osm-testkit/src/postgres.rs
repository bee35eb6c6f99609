//! A private PostgreSQL server: its own folder, its own port, nothing of the machine's.
//!
//! The server is that of Debian's package. It refuses to run as root, so root gives it to another user. A second
//! process, the guard, waits for the end of the test process, also if that is killed, and then ends the server and
//! removes its folder. The first server of a test process makes a cluster; later ones copy it, which is faster.
//!
//! Tests that need no faults share one server ([`Server::shared`]) and have a [database](Server::database) each.

mod guard;
mod pooler;
pub mod proxy;
mod replica;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use self::guard::Guard;
pub use self::pooler::Pooler;
use crate::tools::{self, Skipped};

/// The role that owns everything.
pub const ROLE: &str = "osm";

/// Where Debian's packages have the programs, in a folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The users that a server may run as if we are root.
const USERS: [&str; 2] = ["postgres", "nobody"];
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How a server is started.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Wait for the disk at every commit. Without it a test is faster, and only the end of the whole machine would
    /// lose a commit.
    pub fsync: bool,
    /// Listen on loopback, too, not only on a socket in the file system.
    pub tcp: bool,
    /// More settings, as `name=value`.
    pub options: Vec<String>,
    /// The content of `pg_hba.conf`. Without it every client is trusted.
    pub hba: Option<String>,
    /// The words before the command, such as those that enter a namespace.
    pub launcher: Vec<OsString>,
}

/// A server. When it is dropped, the server ends and its folder is removed.
pub struct Server {
    settings: Settings,
    port: u16,
    postmaster: Mutex<Option<Child>>,
    databases: AtomicUsize,
    guard: Guard,
}

impl Server {
    /// Starts a server with an empty cluster.
    pub fn start(settings: Settings) -> Result<Self, Skipped> {
        installed()?;
        if tools::root().is_ok() {
            tools::program("setpriv")?;
        }
        Self::with_cluster(settings, copy_template)
            .map_err(|error| Skipped(format!("no PostgreSQL server can be started: {error}")))
    }

    /// The server that the tests of this process share: without `fsync`, on loopback and a socket.
    pub fn shared() -> Result<&'static Self, Skipped> {
        static SHARED: OnceLock<Result<Server, String>> = OnceLock::new();
        let start = || {
            let options = vec!["max_connections=300".to_owned()];
            let settings = Settings { tcp: true, options, ..Settings::default() };
            Self::start(settings).map_err(|Skipped(reason)| reason)
        };
        SHARED.get_or_init(start).as_ref().map_err(|reason| Skipped(reason.clone()))
    }

    fn with_cluster(
        settings: Settings,
        cluster: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<Self> {
        // A free port is also the name of the socket.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let guard = Guard::new()?;
        cluster(&guard.data())?;
        if let Some(hba) = &settings.hba {
            fs::write(guard.data().join("pg_hba.conf"), hba)?;
        }
        let (postmaster, databases) = (Mutex::new(None), AtomicUsize::new(0));
        let server = Self { settings, port, postmaster, databases, guard };
        server.begin()?;
        Ok(server)
    }

    /// Starts the server again after [`Self::stop`] or [`Self::kill`], with the same port and data.
    pub fn begin(&self) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut child = self.spawn()?;
            while child.try_wait()?.is_none() {
                if self.is_ready(&child) {
                    *self.postmaster() = Some(child);
                    return Ok(());
                }
                if Instant::now() > deadline {
                    child.kill()?;
                    child.wait()?;
                    return Err(io::Error::other(self.log()));
                }
                std::thread::sleep(LOOK_EVERY);
            }
            // Processes of the server that was killed may still end.
            if Instant::now() > deadline || !self.log().contains("still in use") {
                return Err(io::Error::other(self.log()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn spawn(&self) -> io::Result<Child> {
        let listen = if self.settings.tcp { "127.0.0.1" } else { "" };
        let fsync = if self.settings.fsync { "on" } else { "off" };
        let mut command = unprivileged(&self.settings.launcher, &program("postgres"));
        command.arg("-D").arg(self.guard.data()).arg("-k").arg(self.guard.folder());
        command.args(["-p", &self.port.to_string()]);
        let fixed = [
            format!("listen_addresses={listen}"),
            format!("fsync={fsync}"),
            "shared_buffers=32MB".to_owned(),
            // Files in the folder, which the guard removes, and not in the machine's shared memory.
            "dynamic_shared_memory_type=mmap".to_owned(),
            "log_min_messages=warning".to_owned(),
        ];
        for setting in fixed.iter().chain(&self.settings.options) {
            command.args(["-c", setting]);
        }
        let log = fs::File::create(self.guard.folder().join("log"))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
    }

    fn is_ready(&self, child: &Child) -> bool {
        let record = fs::read_to_string(self.guard.data().join("postmaster.pid"));
        let record = record.unwrap_or_default();
        let lines: Vec<&str> = record.lines().collect();
        let state = lines.get(7).map_or("", |state| state.trim());
        lines.first() == Some(&child.id().to_string().as_str())
            && matches!(state, "ready" | "standby")
    }

    /// Ends the server as its administrator would: clients are disconnected, everything is written.
    pub fn stop(&self) -> io::Result<()> {
        self.end("INT")
    }

    /// Kills the server's first process; the others notice and end.
    pub fn kill(&self) -> io::Result<()> {
        self.end("KILL")
    }

    /// Stops all processes of the server, which then neither answers nor refuses; `false` lets them continue.
    pub fn freeze(&self, frozen: bool) -> io::Result<()> {
        let signal = if frozen { "-STOP" } else { "-CONT" };
        let pid = self.pid()?.to_string();
        // The children have process groups of their own.
        let children = Command::new("pgrep").args(["-P", &pid]).output()?.stdout;
        let children = String::from_utf8_lossy(&children).into_owned();
        text(Command::new("kill").arg(signal).arg(&pid).args(children.split_whitespace()))?;
        Ok(())
    }

    fn end(&self, signal: &str) -> io::Result<()> {
        let Some(mut child) = self.postmaster().take() else { return Ok(()) };
        text(Command::new("kill").args(["-s", signal, &child.id().to_string()]))?;
        child.wait()?;
        Ok(())
    }

    /// The pid of the server's first process.
    pub fn pid(&self) -> io::Result<u32> {
        let not_running = || io::Error::other("the server does not run");
        self.postmaster().as_ref().map(Child::id).ok_or_else(not_running)
    }

    fn postmaster(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.postmaster.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Creates an empty database and returns its name.
    pub fn database(&self) -> io::Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test{number}");
        self.sql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(name)
    }

    /// The address of a database through the socket in the file system.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let folder = self.guard.folder().display().to_string().replace('/', "%2F");
        format!("postgres://{ROLE}@{folder}:{}/{database}", self.port)
    }

    /// The address of a database on loopback.
    #[must_use]
    pub fn tcp_url(&self, database: &str) -> String {
        format!("postgres://{ROLE}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// The port, on loopback and in the name of the socket.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the socket. Other files of a test may lie here, too: they go with the server.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.guard.folder()
    }

    /// The folder of the cluster.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.guard.data()
    }

    /// What the server wrote since it was started.
    #[must_use]
    pub fn log(&self) -> String {
        let bytes = fs::read(self.guard.folder().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What a query returns: a line for each row, `|` between columns.
    pub fn sql(&self, database: &str, sql: &str) -> io::Result<String> {
        let mut psql = self.program("psql");
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql]);
        text(&mut psql)
    }

    /// A client program of the package (`psql`, `pgbench`, …) that connects to this server by its socket.
    #[must_use]
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        command.stdin(Stdio::null());
        command.env_clear().env("PGHOST", self.folder()).env("PGPORT", self.port.to_string());
        command.env("PGUSER", ROLE).env("LC_ALL", "C").env("PATH", "/usr/bin:/bin");
        command
    }
}

/// That the server is installed.
pub fn installed() -> Result<(), Skipped> {
    match program("initdb") {
        path if path.is_absolute() => Ok(()),
        _ => Err(Skipped("postgresql is not installed: run scripts/install-test-tools".into())),
    }
}

/// A program of the newest version that is installed; its bare name if none is.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions
        .map(|entry| entry.path())
        .filter(|folder| folder.join("bin/initdb").is_file())
        .max_by_key(|folder| number(folder));
    newest.map_or_else(|| PathBuf::from(name), |folder| folder.join("bin").join(name))
}

/// A command that runs as a user whom the server accepts.
fn unprivileged(launcher: &[OsString], program: &Path) -> Command {
    let mut words = launcher.to_vec();
    if let Some((user, group)) = user() {
        let options = ["setpriv".into(), format!("--reuid={user}"), format!("--regid={group}")];
        words.extend(options.into_iter().map(OsString::from));
        words.push("--clear-groups".into());
    }
    words.push(program.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    command
}

/// The numbers of the user and the group that a server of root runs as.
fn user() -> Option<(u32, u32)> {
    tools::root().ok()?;
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &&str| {
        let mut fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let fields = fields.find(|fields| fields.first() == Some(name))?;
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    USERS.iter().find_map(find)
}

/// Copies the cluster that this process made first.
fn copy_template(data: &Path) -> io::Result<()> {
    static TEMPLATE: OnceLock<Result<Guard, String>> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let guard = Guard::new().map_err(|error| error.to_string())?;
        let mut initdb = unprivileged(&[], &program("initdb"));
        initdb.arg("-D").arg(guard.data()).args(["-A", "trust", "-U", ROLE, "-E", "UTF8"]);
        text(initdb.args(["--locale=C", "--no-sync"])).map_err(|error| error.to_string())?;
        Ok(guard)
    });
    let template = template.as_ref().map_err(|reason| io::Error::other(reason.clone()))?;
    text(unprivileged(&[], Path::new("cp")).arg("-r").arg(template.data()).arg(data))?;
    Ok(())
}

/// What a command writes, if it succeeds.
fn text(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let program = command.get_program().display().to_string();
        return Err(io::Error::other(format!("{program}: {reason}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        // The guard does the rest; an uncollected child would stay as a zombie.
        drop(self.end("QUIT"));
    }
}
