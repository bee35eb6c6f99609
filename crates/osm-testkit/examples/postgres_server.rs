//! Starts a private server, prints its pid and its folder, and waits to be killed: for the test of what is left then.

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    use std::io::Write;

    use osm_testkit::postgres::{Server, Settings};

    let server = Server::start(Settings::default());
    let server = server.map_err(|reason| std::io::Error::other(reason.0))?;
    let mut output = std::io::stdout();
    writeln!(output, "{} {}", server.pid()?, server.folder().display())?;
    output.flush()?;
    loop {
        std::thread::park();
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
