//! The reasons why a document or a file of the store is not used.

/// What is wrong with a document.
///
/// Reasons are kept after the reader that found them is gone, so they hold its words as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// It is not JSON of the right shape.
    #[error("{0}")]
    Json(String),
    /// It is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// A field is missing.
    #[error("no field `{0}`")]
    MissingField(&'static str),
    /// A field has the wrong type.
    #[error("`{field}` is not {expected}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// What it must be, with its article.
        expected: &'static str,
    },
    /// Its version is not one that was ever released.
    #[error("unknown version {0:?}")]
    UnknownVersion(String),
    /// It is an export of a version that is not supported.
    #[error("unsupported version of an export")]
    UnsupportedExport,
    /// A key of `values` is not a number.
    #[error("value {0:?} has no number")]
    ValueName(String),
    /// What was read back is not what was written.
    #[error("the copy is not what was written")]
    NotAsWritten,
    /// A server has not all pieces of it.
    #[error("pieces of the document are missing on the server")]
    MissingPieces,
    /// A reference leads to a value that is missing.
    #[error("value {0} is missing")]
    MissingValue(u32),
    /// A stored value is not JSON.
    #[error("value {number}: {message}")]
    Value {
        /// The value's number.
        number: u32,
        /// The words of the JSON reader.
        message: String,
    },
    /// The value of a key is not JSON.
    #[error("key {name:?}: {message}")]
    Key {
        /// The key.
        name: String,
        /// The words of the JSON reader.
        message: String,
    },
    /// An entry of the history is not what it must be.
    #[error("history: {0}")]
    History(String),
    /// A reference has no number.
    #[error("a reference without a number")]
    Reference,
    /// A part of a long list or map is not what it must be.
    #[error("an invalid chunk of a {0}")]
    Chunk(&'static str),
    /// Values refer to each other without end.
    #[error("values refer to each other without end")]
    EndlessReferences,
    /// It has more parts than any document that osm writes.
    #[error("too many parts")]
    TooManyParts,
    /// It cannot be decompressed.
    #[error("cannot decompress it: {0}")]
    Compression(String),
}

impl From<serde_json::Error> for Damage {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error.to_string())
    }
}

/// Why a file or folder is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsafe {
    /// It is something else.
    #[error("is {found}, not {expected}")]
    WrongKind {
        /// What it is, with its article.
        found: &'static str,
        /// What it must be, with its article.
        expected: &'static str,
    },
    /// It belongs to another user.
    #[error("belongs to another user (uid {uid})")]
    OtherOwner {
        /// That user's number.
        uid: u32,
    },
    /// Every user can write to it.
    #[error("every user can write to it (mode {mode:04o})")]
    WorldWritable {
        /// Its permissions.
        mode: u32,
    },
    /// The file system has no locks.
    #[error("its file system does not support locks")]
    NoLocks,
    /// The file system gives one file two identities.
    #[error("its file system changes the identity of open files")]
    UnstableIdentity,
}
