// tui, continued: prompts that read lines, and completers.
'use strict';
(function (ours) {
    const prompts = new Map();
    const completers = new Map();

    function need(map, name, what) {
        const found = map.get(name);
        if (found === undefined) {
            const names = [...map.keys()].join(', ') || 'none yet';
            throw new Error(`there is no ${what} ${ours.quoted(name)}; there are: ${names}`);
        }
        return found;
    }

    // Settings that are about how a terminal looks are kept, and are for the program to look at.
    function createPrompt(config) {
        if (typeof config !== 'object' || config === null) {
            throw new TypeError('createPrompt takes { name, prefix, handler, … }');
        }
        let name = config.name ?? '';
        for (let number = prompts.size + 1; name === ''; number += 1) {
            name = prompts.has(`prompt-${number}`) ? '' : `prompt-${number}`;
        }
        if (typeof name !== 'string') {
            throw new TypeError('createPrompt: the name of a prompt is a text');
        }
        if (config.handler !== undefined && typeof config.handler !== 'function') {
            throw new TypeError(`createPrompt: the handler of '${name}' must be a function`);
        }
        prompts.set(name, { name, config, completer: null });
        return name;
    }

    // A line for a prompt without a handler is a command, as in the shell of a mode.
    async function command(line) {
        const [name, ...args] = ours.invoke('osm:argv', 'parseArgv', [line]);
        if (name === undefined) {
            return;
        }
        const found = ours.findCommand(name);
        if (found === undefined) {
            throw new Error(`there is no command ${ours.quoted(name)}`);
        }
        await found.handler.call(found.config, args);
    }

    // Reads lines until there are no more, the handler says `false`, or an exit is asked for.
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

    // A completer for all that is typed at a prompt, or in a mode.
    function setCompleter(name, completer) {
        need(completers, completer, 'completer');
        const where = prompts.get(name) ?? ours.modeNamed(name);
        if (where === undefined) {
            throw new Error(`there is no prompt and no mode ${ours.quoted(name)}`);
        }
        where.completer = completer;
    }

    function suggestion(given) {
        const text = typeof given === 'object' && given !== null ? given.text : given;
        if (typeof text !== 'string') {
            throw new TypeError('a completer gives texts, or objects with a text and a description');
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
