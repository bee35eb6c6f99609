//! Agents that do nothing but run commands: as a native program, as a script of node, of python.
//!
//! They stand in for the shape of an agent's process; [`real_agents`](super::real_agents) has the
//! real ones.

use osm_testkit::lab::Lab;
use osm_testkit::tools::program;

use super::situation::Stop;

/// A native agent called `name`: a copy of a shell, which runs `-c COMMAND`.
pub(crate) fn native(lab: &Lab, name: &str) -> Result<String, Stop> {
    Ok(lab.copy(&program("bash")?, name)?.display().to_string())
}

/// An agent that is a script of node, run through `env`, so that only its argument tells.
pub(crate) fn node(lab: &Lab, name: &str) -> Result<String, Stop> {
    program("node")?;
    let script = "#!/usr/bin/env node
const { spawnSync } = require('child_process')
for (const command of process.argv.slice(2))
  process.stdout.write(spawnSync('sh', ['-c', command + '; true'], { encoding: 'utf8' }).stdout)
";
    Ok(lab.file(name, script)?.display().to_string())
}

/// An agent that is a script of python.
pub(crate) fn python(lab: &Lab, name: &str) -> Result<String, Stop> {
    let python = program("python3")?.display().to_string();
    let script = format!(
        "#!{python}
import subprocess, sys
for command in sys.argv[1:]:
    subprocess.run(['sh', '-c', command + '; true'], start_new_session=True)
"
    );
    Ok(lab.file(name, &script)?.display().to_string())
}
