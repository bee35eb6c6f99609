// CommonJS: a module runs once, has exports, and is known by its file.
'use strict';
(function (ours) {
    const cache = new Map();

    // A built-in module: functions of Rust, or a built-in script.
    function builtin(name) {
        const outline = Object.hasOwn(ours.modules, name) ? ours.modules[name] : undefined;
        if (outline === undefined && Object.hasOwn(ours.absent, name)) {
            throw new Error(`module '${name}' is not available in osm: ${ours.absent[name]}`);
        }
        if (outline === undefined) {
            const names = Object.keys(ours.modules).filter((each) => ours.modules[each].public).join(', ');
            throw new Error(`module not found: '${name}'; built-in modules: ${names}`);
        }
        const module = { exports: {} };
        cache.set(name, module);
        const functions = {};
        for (const each of outline.functions) {
            functions[each] = (...args) => ours.invoke(name, each, args);
        }
        if (outline.script === null) {
            module.exports = functions;
        } else {
            ours.builtIn(outline.script)(module.exports, (other) => load('', other), module, functions);
        }
        return module;
    }

    function folderOf(file) {
        const cut = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'));
        return cut > 0 ? file.slice(0, cut) : file.slice(0, cut + 1);
    }

    function fromFile(file, text, folder = folderOf(file)) {
        const module = { exports: {}, id: file, filename: file, loaded: false };
        cache.set(file, module);
        try {
            if (file.endsWith('.json')) {
                module.exports = JSON.parse(text);
            } else {
                const run = ours.compile(text, file);
                const require = (name) => load(folder, name);
                run.call(module.exports, module.exports, require, module, file, folder);
            }
        } catch (error) {
            // A module that failed is loaded again by the next require.
            cache.delete(file);
            throw error;
        }
        module.loaded = true;
        return module;
    }

    function load(folder, name) {
        if (typeof name !== 'string') {
            throw new TypeError('require takes the name of a module');
        }
        if (name.startsWith('osm:') || Object.hasOwn(ours.modules, name)) {
            return (cache.get(name) ?? builtin(name)).exports;
        }
        const [file, text] = ours.load(folder, name);
        return (cache.get(file) ?? fromFile(file, text)).exports;
    }

    // The folder of the script that runs; there are no relative names without one.
    let base = '';
    globalThis.require = (name) => load(base, name);

    function runMain(name, text, folder) {
        base = folder;
        try {
            fromFile(name, text, folder);
        } catch (error) {
            ours.cleanUp();
            throw error;
        }
        return ours.finish();
    }

    // Runs a script that is not a file: relative names are found in the folder that the program gives.
    ours.mainText = (name, text) => runMain(name, text, ours.folder);

    // Runs the script that the user names.
    ours.main = function (file) {
        const [path, text] = ours.load('', file);
        return runMain(path, text, folderOf(path));
    };
})(__osm);
