//! `sslmode`, with certificates of a test's own authority.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use osm_postgres::Kind;
use osm_testkit::postgres::{Server, Settings};
use osm_testkit::tools;
use osm_testkit::trials::need;

use crate::harness::{assert_kind, connection, failure};

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new(need(tools::program("openssl")));
    command.current_dir(folder).args(arguments.split_whitespace()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An authority, and a key with a certificate of it for each name.
fn certificates(folder: &Path, authority: &str, names: &[(&str, &str)]) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    openssl(
        folder,
        &format!(
            "req -x509 {key} -keyout {authority}.key -out {authority}.crt -subj /CN={authority}"
        ),
    );
    for (name, alternative) in names {
        fs::write(folder.join("extensions"), format!("subjectAltName={alternative}\n")).unwrap();
        openssl(folder, &format!("req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
        openssl(
            folder,
            &format!(
                "x509 -req -days 2 -in {name}.csr -CA {authority}.crt -CAkey {authority}.key -CAcreateserial -extfile extensions -out {name}.crt"
            ),
        );
    }
}

#[test]
fn each_mode_checks_what_it_promises() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    certificates(folder.path(), "ours", &[("server", "IP:127.0.0.1"), ("osm", "DNS:osm")]);
    certificates(folder.path(), "theirs", &[("stranger", "DNS:osm")]);
    let hba = "local all all trust\nhostssl postgres all 127.0.0.1/32 trust\nhostssl template1 all 127.0.0.1/32 cert\n";
    let settings = Settings { tcp: true, hba: Some(hba.into()), ..Settings::default() };
    let postgres = need(Server::start(settings));
    // Into the folder of the cluster, where the server's user may read them.
    for name in ["server.crt", "server.key", "ours.crt"] {
        let content = fs::read_to_string(at(name)).unwrap();
        let sql = format!(
            "COPY (SELECT unnest(string_to_array($t${}$t$, E'\\n'))) TO '{}'",
            content.trim(),
            postgres.data().join(name).display()
        );
        postgres.sql("postgres", &sql).unwrap();
    }
    fs::set_permissions(
        postgres.data().join("server.key"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let plain = |mode: &str| {
        format!("postgres://osm@127.0.0.1:{}/postgres?sslmode={mode}", postgres.port())
    };
    assert_kind(&failure(&plain("require")), Kind::Tls);

    for (name, value) in [("ssl", "on"), ("ssl_ca_file", "ours.crt")] {
        postgres.sql("postgres", &format!("ALTER SYSTEM SET {name} = '{value}'")).unwrap();
    }
    postgres.stop().unwrap();
    postgres.begin().unwrap();
    let (ours, theirs) =
        (format!("&sslrootcert={}", at("ours.crt")), format!("&sslrootcert={}", at("theirs.crt")));
    let missing = format!("&sslrootcert={}", at("none.crt"));
    let local = |mode: &str| plain(mode).replace("127.0.0.1", "localhost");
    let address = |mode: &str, rest: &str| format!("{}{rest}", plain(mode));
    for (address, expected) in [
        (plain("disable"), Err(Kind::Denied)),
        (plain("prefer"), Ok(true)),
        (plain("require"), Ok(true)),
        (plain("verify-ca"), Err(Kind::Tls)),
        (address("require", &theirs), Err(Kind::Tls)),
        (address("verify-ca", &ours), Ok(true)),
        (address("verify-full", &ours), Ok(true)),
        (address("verify-full", &theirs), Err(Kind::Tls)),
        (address("verify-full", &missing), Err(Kind::Tls)),
        (format!("{}{ours}", local("verify-ca")), Ok(true)),
        (format!("{}{ours}", local("verify-full")), Err(Kind::Tls)),
    ] {
        let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let found = connection(&address).read(sql, &[]).map(|rows| rows[0].get::<_, bool>(0));
        assert_eq!(found.map_err(|error| error.kind()), expected, "{address}");
    }

    let client = |name: &str| {
        let address = address("verify-full", &ours).replace("/postgres?", "/template1?");
        format!(
            "{address}&sslcert={}&sslkey={}",
            at(&format!("{name}.crt")),
            at(&format!("{name}.key"))
        )
    };
    connection(&client("osm")).read("SELECT 1", &[]).unwrap();
    for name in ["stranger", "none"] {
        let error = failure(&client(name));
        assert!(matches!(error.kind(), Kind::Tls | Kind::Denied), "{name}: {error:?}");
    }
}
