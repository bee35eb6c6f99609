//! The built-in scripts as bytecode, which `build.rs` has compiled from `js/`.

use rquickjs::loader::Loader;
use rquickjs::loader::bundle::Bundle;
use rquickjs::module::Evaluated;
use rquickjs::{Ctx, Function, Module};

/// Every script by its name: `osm:console` is `js/console.js`, `osm:modules/flag` is
/// `js/modules/flag.js`.
static SCRIPTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bytecode.rs"));

/// Runs a script of the prelude.
pub(crate) fn run(ctx: &Ctx<'_>, name: &str) -> rquickjs::Result<()> {
    evaluate(ctx, name).map(drop)
}

/// The function of a built-in module.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
    evaluate(ctx, &format!("osm:modules/{name}"))?.get("default")
}

fn evaluate<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js, Evaluated>> {
    let (module, promise) = Bundle(SCRIPTS).load(ctx, name, None)?.eval()?;
    // No built-in script awaits at its top level, so the promise is settled.
    promise.finish::<()>()?;
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::globals::PRELUDE;
    use crate::modules;

    #[test]
    fn every_built_in_script_is_compiled() {
        let mut used: Vec<String> = PRELUDE.iter().map(|name| format!("osm:{name}")).collect();
        used.extend(modules::scripts().map(|name| format!("osm:modules/{name}")));
        used.sort();
        used.dedup();
        let compiled: Vec<&str> = SCRIPTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(compiled, used);
    }
}
