// tui, continued: prompts that read lines, and completers.
'use strict';
(function (ours) {
    const prompts = new Map();
    const completers = new Map();

    function need(map, name, what) {
        const found = map.get(name);
        if (found === undefined) {
            const names = [...map.keys()].join(', ') || 'none';
            throw new Error(`unknown ${what} ${ours.quoted(name)}; registered: ${names}`);
        }
        return found;
    }

    // Settings about the look of a terminal are accepted and ignored.
    function createPrompt(config) {
        if (typeof config !== 'object' || config === null) {
            throw new TypeError('createPrompt takes { name, prefix, handler, … }');
        }
        let name = config.name ?? '';
        for (let number = prompts.size + 1; name === ''; number += 1) {
            name = prompts.has(`prompt-${number}`) ? '' : `prompt-${number}`;
        }
        if (typeof name !== 'string') {
            throw new TypeError('createPrompt: the name of a prompt must be a string');
        }
        if (config.handler !== undefined && typeof config.handler !== 'function') {
            throw new TypeError(`createPrompt: the handler of '${name}' must be a function`);
        }
        prompts.set(name, { name, config, completer: null });
        return name;
    }

    // A line at a prompt without a handler is a command, as in a mode.
    async function command(line) {
        const [name, ...args] = ours.invoke('osm:argv', 'parseArgv', [line]);
        if (name === undefined) {
            return;
        }
        const found = ours.findCommand(name);
        if (found === undefined) {
            throw new Error(`unknown command ${ours.quoted(name)}`);
        }
        await ours.runCommand(found, args, /^\s*\S+\s?([^]*)$/.exec(line)?.[1] ?? '');
    }

    // Reads lines until the end, until the handler returns false, or until an exit is requested.
    async function run({ config }) {
        if (config.title) {
            ours.invoke('osm:output', 'print', [String(config.title)]);
        }
        const prefix = String(config.prefix ?? '> ');
        while (!ours.tui.isExitRequested()) {
            const line = ours.invoke('osm:state', 'readLine', [prefix]);
            if (line === null || (await (config.handler ?? command)(line)) === false) {
                return;
            }
        }
    }

    function registerCompleter(name, completer) {
        if (typeof name !== 'string' || name === '' || typeof completer !== 'function') {
            throw new TypeError('registerCompleter takes a name and a function');
        }
        completers.set(name, completer);
    }

    // Sets the completer for all input at a prompt or in a mode.
    function setCompleter(name, completer) {
        need(completers, completer, 'completer');
        const where = prompts.get(name) ?? ours.modeNamed(name);
        if (where === undefined) {
            throw new Error(`no prompt or mode ${ours.quoted(name)}`);
        }
        where.completer = completer;
    }

    function suggestion(given) {
        const text = typeof given === 'object' && given !== null ? given.text : given;
        if (typeof text !== 'string') {
            throw new TypeError('a completer must return strings, or objects with text and description');
        }
        return { text, description: typeof given?.description === 'string' ? given.description : null };
    }

    ours.complete = async function (name, document) {
        const given = await need(completers, name, 'completer')(ours.makeDocument(document));
        return [...(given ?? [])].map(suggestion);
    };
    ours.completers = async () => [...completers.keys()];

    globalThis.tui = Object.freeze({
        ...ours.tui,
        createPrompt,
        runPrompt: (name) => ours.track(run(need(prompts, name, 'prompt'))),
        registerCompleter,
        setCompleter,
    });
})(__osm);
