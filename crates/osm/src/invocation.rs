//! One run of the program, as operations see it.
//!
//! Everything that an operation needs beside its request is captured here once: the world, the
//! settings, the detection, the repository around the folder, and the factories of the store and the
//! ledger, which are the only place that chooses a backend. Nothing is opened before it is asked for.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_claims::clock::{Clock as _, SystemClock};
use osm_claims::{Claims, MemoryLedger, PostgresLedger, Presence, SqliteLedger, SystemProbe};
use osm_identity::{Detection, Repository, Request, SessionId, Source, System};
use osm_store::backend::Backend;
use osm_store::retention::Uptime;
use osm_store::{
    FsBackend, Journals, LastUsed, MemoryBackend, Origin, PostgresBackend, Store, Usage,
};

use crate::World;
use crate::bare::repository_around;
use crate::config::{InvalidStore, Settings};
use crate::error::{Exit, Failure};
use crate::ops::claim;
use crate::ops::session::SessionError;

/// What a front end may choose for a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The session, instead of the one that is detected.
    pub session: Option<OsString>,
    /// The store, instead of the one that is configured.
    pub store: Option<String>,
}

/// One run of the program.
pub struct Invocation<'a> {
    pub(crate) world: &'a World,
    pub(crate) settings: Settings,
    options: Options,
    problems: Vec<String>,
    detection: OnceCell<Detection>,
    repository: OnceCell<Option<Repository>>,
}

/// Where sessions and claims are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreName {
    Fs,
    Memory,
    Postgres,
}

impl StoreName {
    /// Its name in options and settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fs => "fs",
            Self::Memory => "memory",
            Self::Postgres => "postgres",
        }
    }

    fn named(name: &str) -> Result<Self, InvocationError> {
        let found =
            [Self::Fs, Self::Memory, Self::Postgres].into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| InvocationError::UnknownStore(name.to_owned()))
    }
}

/// Opens the chosen store, from any thread.
pub(crate) type StoreOpener = Arc<dyn Fn() -> osm_store::Result<Store> + Send + Sync>;

/// Why there is no home folder.
const NO_HOME: &str = "neither HOME nor OSM_HOME is set";

/// Why a run cannot be what its options ask for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvocationError {
    /// No home folder is known.
    #[error("no folder for sessions: {NO_HOME}")]
    NoHome,
    /// `--store` or `OSM_STORE` names no store.
    #[error("unknown store {0:?}")]
    UnknownStore(String),
    /// The configuration names no store.
    #[error("{0}")]
    StoreSetting(String),
    /// The working directory was removed.
    #[error("the working directory does not exist any more")]
    NoFolder,
}

impl Failure for InvocationError {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoHome => "no_home",
            Self::UnknownStore(_) | Self::StoreSetting(_) => "unknown_store",
            Self::NoFolder => "no_folder",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::UnknownStore(_) => Exit::Usage,
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NoHome => "set HOME, or OSM_HOME to a folder".into(),
            Self::UnknownStore(_) => "use fs, memory or postgres, in --store or OSM_STORE".into(),
            Self::StoreSetting(_) => "see `osm config validate`".into(),
            Self::NoFolder => "change to a folder that exists".into(),
        }]
    }
}

impl<'a> Invocation<'a> {
    /// A run with these options.
    #[must_use]
    pub fn new(world: &'a World, options: Options) -> Self {
        let (settings, problems) = Settings::load(world);
        let (detection, repository) = (OnceCell::new(), OnceCell::new());
        Self { world, settings, options, problems, detection, repository }
    }

    /// What the front end chose.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// What is wrong with the configuration, to be shown once.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The session, with everything that can be told about it.
    pub(crate) fn explain(&self) -> Detection {
        osm_identity::explain(&self.request())
    }

    /// The session and what its id rests on. The process tree is read at most once in a run.
    pub(crate) fn detection(&self) -> &Detection {
        self.detection.get_or_init(|| osm_identity::detect(&self.request()))
    }

    /// The session's id.
    pub(crate) fn session_id(&self) -> &SessionId {
        &self.detection().id
    }

    fn request(&self) -> Request<'_> {
        Request {
            explicit: self.options.session.as_deref(),
            environment: &self.world.environment,
            source: self.world.processes,
            catalogue: &self.settings.catalogue,
        }
    }

    /// The folder that the run was started in.
    pub(crate) fn folder(&self) -> Result<PathBuf, InvocationError> {
        self.world.folder().ok_or(InvocationError::NoFolder)
    }

    /// The repository around the folder.
    pub(crate) fn repository(&self) -> Option<&Repository> {
        let find = || self.world.folder().as_deref().and_then(repository_around);
        self.repository.get_or_init(find).as_ref()
    }

    /// Which store was chosen.
    pub(crate) fn store_name(&self) -> Result<StoreName, InvocationError> {
        let name = match &self.options.store {
            Some(name) => name.as_str(),
            None => self.settings.store().map_err(|invalid| match invalid {
                InvalidStore::Variable(name) => {
                    let value = self.world.environment.get(name).unwrap_or_default();
                    InvocationError::UnknownStore(value.to_string_lossy().into_owned())
                }
                InvalidStore::File(why) => InvocationError::StoreSetting(why),
            })?,
        };
        StoreName::named(name)
    }

    /// The folder of everything that is kept.
    pub(crate) fn home(&self) -> Result<PathBuf, InvocationError> {
        self.world.home().ok_or(InvocationError::NoHome)
    }

    /// The server of the store.
    pub(crate) fn database(&self) -> osm_postgres::Result<osm_postgres::Server> {
        let variable = |name: &str| self.world.environment.get(name)?.to_str().map(str::to_owned);
        let given = variable("OSM_DATABASE_URL").filter(|address| !address.is_empty());
        // With libpq's variables alone the address can be left out.
        let by_host = || variable("PGHOST").map(|_| "postgres://".to_owned());
        match given.or_else(|| self.settings.store_url.clone()).or_else(by_host) {
            Some(address) => osm_postgres::Server::new(&address, &variable),
            None => Err(osm_postgres::Error::new(
                osm_postgres::Kind::Settings,
                "an unknown address",
                "neither OSM_DATABASE_URL nor `store.url` nor PGHOST is set",
            )),
        }
    }

    /// The chosen backend, and what it takes to open it from any thread.
    fn backend(
        &self,
    ) -> Result<impl Fn() -> osm_store::Result<Arc<dyn Backend>> + use<>, InvocationError> {
        Ok(self.opener(self.store_name()?))
    }

    /// A store by its name.
    pub(crate) fn backend_named(&self, name: &str) -> Result<Arc<dyn Backend>, SessionError> {
        Ok(self.opener(StoreName::named(name)?)()?)
    }

    fn opener(&self, name: StoreName) -> impl Fn() -> osm_store::Result<Arc<dyn Backend>> + use<> {
        let home = self.world.home();
        let server = (name == StoreName::Postgres).then(|| self.database().map(Arc::new));
        let clock = Arc::clone(&self.world.clock);
        move || -> osm_store::Result<Arc<dyn Backend>> {
            Ok(match name {
                StoreName::Fs => {
                    let home = home.as_deref().ok_or(osm_store::Error::NoFolder(NO_HOME))?;
                    Arc::new(FsBackend::open(home, Arc::clone(&clock))?)
                }
                StoreName::Memory => Arc::new(MemoryBackend::new(Arc::clone(&clock))),
                StoreName::Postgres => {
                    let server = server.clone().expect("it is set for this store")?;
                    Arc::new(PostgresBackend::open(server)?)
                }
            })
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> Result<Store, SessionError> {
        if self.store_name()? == StoreName::Fs {
            self.home()?;
        }
        let backend = self.backend()?()?;
        Ok(Store::new(backend, self.world.holder()))
    }

    /// The store, for an operation that changes sessions.
    pub(crate) fn store_to_change(&self, force: bool) -> Result<Store, SessionError> {
        Ok(self.store()?.forcing(force).used_by(self.usage()))
    }

    /// How the store is opened, for a front end that opens it again later.
    pub(crate) fn store_opener(&self) -> Result<StoreOpener, InvocationError> {
        let backend = self.backend()?;
        let (holder, usage) = (self.world.holder(), self.usage());
        let journals = self.journals();
        Ok(Arc::new(move || {
            let store = Store::new(backend()?, holder.clone()).used_by(usage.clone());
            Ok(match &journals {
                Some(journals) => store.replaying(journals.clone()),
                None => store,
            })
        }))
    }

    /// The journals of sessions whose server is away; `None` for a store on this machine.
    pub(crate) fn journals(&self) -> Option<Journals> {
        let home = self.world.home()?;
        match self.store_name() {
            Ok(StoreName::Postgres) => {
                let server = self.database().ok()?.to_string();
                Some(Journals::new(&home, server, Arc::clone(&self.world.clock)))
            }
            _ => None,
        }
    }

    /// How long the machine has been up; no time at all if that is not known.
    pub(crate) fn uptime(&self) -> Uptime {
        let clock = SystemClock::new(self.world.processes);
        let now = clock.ok().and_then(|clock| clock.now().ok());
        now.map_or_else(Uptime::default, |now| Uptime {
            boot: now.moment.boot,
            elapsed: now.moment.uptime,
        })
    }

    /// The ledger of claims.
    pub(crate) fn claims(&self) -> Result<Claims, claim::Error> {
        let probe = Box::new(SystemProbe(System));
        let error = |error| claim::Error::ledger(self, error);
        Ok(match self.store_name()? {
            StoreName::Memory => {
                let clock = SystemClock::new(&System).map_err(osm_claims::Error::Processes);
                let ledger = MemoryLedger::new(Box::new(clock.map_err(error)?));
                Claims::new(Box::new(ledger), probe)
            }
            StoreName::Fs => {
                let ledger = SqliteLedger::open(&self.home()?, &System).map_err(error)?;
                Claims::new(Box::new(ledger), probe)
            }
            StoreName::Postgres => {
                let presence = Presence::Lease(self.settings.lease);
                let server = self.database().map_err(|source| error(source.into()))?;
                let ledger = PostgresLedger::open(server, presence).map_err(error)?;
                Claims::new(Box::new(ledger), probe)
            }
        })
    }

    /// The folder of the ledger of claims; `None` if it is in memory.
    pub(crate) fn ledger_folder(&self) -> Result<Option<PathBuf>, claim::Error> {
        Ok(match self.store_name()? {
            StoreName::Memory | StoreName::Postgres => None,
            StoreName::Fs => Some(self.home()?),
        })
    }

    /// Where the ledger of claims is, for messages.
    pub(crate) fn ledger_place(&self) -> String {
        match (self.store_name(), self.home()) {
            (Ok(StoreName::Fs), Ok(home)) => SqliteLedger::file(&home).display().to_string(),
            (Ok(StoreName::Postgres), _) => match self.database() {
                Ok(server) => server.to_string(),
                Err(_) => "PostgreSQL".into(),
            },
            _ => "in memory".into(),
        }
    }

    /// Who uses the session, and where.
    pub(crate) fn usage(&self) -> Usage {
        let found = self.detection();
        let text = |path: &Path| path.display().to_string();
        let folder = self.world.folder();
        let repository = self.repository();
        let (detected, agent) = self.detected();
        Usage {
            session: found.id.clone(),
            origin: Origin {
                source: found.source.name().to_owned(),
                agent: found.agent.as_ref().map(|agent| agent.name.to_owned()),
                anchor: found.anchor.clone().map(|anchor| {
                    let processes = self.world.processes;
                    anchor.with_clock(processes).with_machine(processes)
                }),
                host: self.world.host_name(),
            },
            last_used: LastUsed {
                at: None,
                folder: folder.as_deref().map(text),
                repository: repository.map(|it| text(it.folder())),
                worktree: repository.map(|it| text(&it.worktree)),
                branch: repository.and_then(|it| it.branch.clone()),
            },
            detected,
            agent,
            history_length: self.settings.history_length,
        }
    }

    /// The session and the agent that osm detects here if no session is chosen: who works in one that
    /// several share.
    fn detected(&self) -> (Option<SessionId>, Option<String>) {
        let name = |found: &Detection| {
            let id = (found.source != Source::Random).then(|| found.id.clone());
            (id, found.agent.as_ref().map(|agent| agent.name.to_owned()))
        };
        let found = self.detection();
        if !matches!(found.source, Source::ExplicitFlag | Source::ExplicitVariable) {
            return name(found);
        }
        let environment = self.world.environment.without(&["OSM_SESSION", "OSM_SESSION_ID"]);
        let request = Request { explicit: None, environment: &environment, ..self.request() };
        name(&osm_identity::detect(&request))
    }
}
