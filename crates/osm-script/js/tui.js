// tui: modes and their commands. The program lists, enters and dispatches; see modes.rs.
//
// Functions that the program calls are asynchronous, so that it waits for their result and not for
// every timer that a script has set.
'use strict';
(function (ours) {
    const modes = new Map();
    const commands = new Map();
    const keys = new Map();
    let current = null;
    let exiting = false;

    const isText = (value) => typeof value === 'string' && value !== '';
    const isThing = (value) => typeof value === 'object' && value !== null;
    const maybe = (value, kind, what) => {
        if (value !== undefined && value !== null && typeof value !== kind) {
            throw new TypeError(`${what} must be a ${kind}`);
        }
        return value ?? undefined;
    };

    // Promises that a handler did not wait for; the program waits for them. The script gets its own
    // promise: an unhandled rejection of it is an error of the script.
    const pending = new Set();
    function track(value) {
        if (typeof value?.then !== 'function') {
            return value;
        }
        pending.add(value);
        return value.then();
    }
    ours.track = track;
    async function finished() {
        for (const each of [...pending]) {
            pending.delete(each);
            await each.then(undefined, () => {});
        }
    }

    // Calls next now, or when a promise is resolved.
    function then(value, next) {
        return typeof value?.then === 'function' ? value.then(next) : next();
    }

    function makeCommand(name, given, whose) {
        const config = typeof given === 'function' ? { handler: given } : given;
        const what = `${whose}: the command '${name}'`;
        if (!isText(name) || /\s/.test(name)) {
            throw new TypeError(`${whose}: the name of a command must be a string without spaces, not ${ours.quoted(name)}`);
        }
        if (typeof config?.handler !== 'function') {
            throw new TypeError(`${what} needs a handler function`);
        }
        const list = (value, field) => {
            if (value !== undefined && value !== null && !Array.isArray(value)) {
                throw new TypeError(`${what}: ${field} must be an array`);
            }
            return [...(value ?? [])];
        };
        return {
            name,
            description: maybe(config.description, 'string', `${what}: description`) ?? '',
            usage: maybe(config.usage, 'string', `${what}: usage`) ?? '',
            argCompleters: list(config.argCompleters, 'argCompleters').map(String),
            flagDefs: list(config.flagDefs, 'flagDefs').map((flag) => ({
                name: String(isThing(flag) ? flag.name : flag).replace(/^-+/, ''),
                description: String(flag?.description ?? ''),
            })),
            takesText: Boolean(maybe(config.takesText, 'boolean', `${what}: takesText`)),
            handler: config.handler,
            config,
        };
    }

    // The commands of a mode: an object, or what a function returns when they are first needed.
    function commandsOf(mode) {
        if (mode.commands === null) {
            const given = typeof mode.config.commands === 'function' ? mode.config.commands() : mode.config.commands;
            if (given !== undefined && (!isThing(given) || typeof given.then === 'function')) {
                throw new TypeError(`the mode '${mode.name}': commands must be an object, or a function that returns one (not a promise)`);
            }
            const list = Array.isArray(given) ? given.map((each) => [each?.name, each]) : undefined;
            const pairs = list ?? (given instanceof Map ? [...given] : Object.entries(given ?? {}));
            const made = pairs
                .filter(([, each]) => each !== undefined && each !== null)
                .map(([name, each]) => [name, makeCommand(name, each, `the mode '${mode.name}'`)]);
            mode.commands = new Map(made);
        }
        return mode.commands;
    }

    function registerMode(config) {
        if (!isThing(config) || !isText(config.name)) {
            throw new TypeError('registerMode takes { name, commands, … }; the name is missing');
        }
        const what = `the mode '${config.name}'`;
        for (const hook of ['onEnter', 'onExit']) {
            maybe(config[hook], 'function', `${what}: ${hook}`);
        }
        maybe(config.initialCommand, 'string', `${what}: initialCommand`);
        maybe(config.tui, 'object', `${what}: tui`);
        const kind = typeof config.commands;
        if (!['undefined', 'object', 'function'].includes(kind)) {
            throw new TypeError(`${what}: commands must be an object, or a function that returns one`);
        }
        modes.set(config.name, { name: config.name, config, commands: null, completer: null });
    }

    function need(name) {
        const mode = modes.get(name);
        if (mode === undefined) {
            const names = [...modes.keys()].join(', ') || 'none';
            throw new Error(`unknown mode ${ours.quoted(name)}; modes: ${names}`);
        }
        return mode;
    }

    // Leaves the current mode and enters another. If that fails, the current mode stays.
    function switchMode(name) {
        const mode = need(name);
        const before = current;
        const back = (error) => {
            current = before;
            throw error;
        };
        const enter = () => {
            current = mode.name;
            ours.contextChanged?.();
            try {
                mode.commands = null;
                commandsOf(mode);
                const entered = mode.config.onEnter?.();
                return typeof entered?.then === 'function' ? entered.then(undefined, back) : undefined;
            } catch (error) {
                return back(error);
            }
        };
        const left = before === null ? undefined : modes.get(before)?.config.onExit?.();
        return track(then(left, enter));
    }

    function registerCommand(config) {
        if (!isThing(config)) {
            throw new TypeError('registerCommand takes { name, handler, … }');
        }
        commands.set(config.name, makeCommand(config.name, config, 'registerCommand'));
    }

    function registerKeyBinding(key, handler) {
        if (!isText(key) || typeof handler !== 'function') {
            throw new TypeError('registerKeyBinding takes the name of a key and a function');
        }
        keys.set(key, handler);
    }

    ours.tui = {
        registerMode,
        switchMode,
        registerCommand,
        registerKeyBinding,
        getCurrentMode: () => current ?? '',
        listModes: () => [...modes.keys()],
        createState: (name, definitions) => ours.createState(name, definitions),
        onStateChange: (listener) => ours.onStateChange(listener),
        requestExit: () => void (exiting = true),
        isExitRequested: () => exiting,
        clearExitRequest: () => void (exiting = false),
        reset: () => ours.resetState(),
    };
    ours.modeNamed = (name) => modes.get(name);

    const commandShown = ({ name, description, usage, argCompleters, flagDefs, takesText }) => ({ name, description, usage, argCompleters, flagDefs, takesText });
    function shown(mode) {
        const { tui, initialCommand, multiline } = mode.config;
        return {
            name: mode.name,
            title: String(tui?.title ?? mode.name),
            prompt: String(tui?.prompt ?? `(${mode.name}) > `),
            multiline: Boolean(multiline),
            initialCommand: initialCommand ?? null,
            completer: mode.completer,
            commands: [...commandsOf(mode).values()].map(commandShown),
        };
    }

    // Functions that the program calls.
    ours.listModes = async () => [...modes.values()].map(shown);
    ours.currentMode = async () => (current === null ? null : shown(need(current)));
    ours.globalCommands = async () => [...commands.values()].map(commandShown);
    ours.enterMode = async function (name) {
        await switchMode(name);
        await finished();
    };
    ours.resumeMode = async (name) => void (current = need(name).name);
    ours.leaveMode = async function () {
        const mode = current === null ? undefined : modes.get(current);
        current = null;
        await mode?.config.onExit?.();
        await finished();
    };
    ours.findCommand = function (name) {
        const mode = current === null ? undefined : modes.get(current);
        return (mode && commandsOf(mode).get(name)) ?? commands.get(name);
    };
    // Commands take a list of words; `({ state, text }) => …` finds the state and the text as it was typed
    // there, too.
    ours.runCommand = function (command, args, text) {
        Object.defineProperties(args, { state: { value: ours.stateOf(current) }, text: { value: text } });
        return command.handler.call(command.config, args);
    };
    ours.dispatch = async function (name, args, text) {
        const command = ours.findCommand(name);
        if (command === undefined) {
            return 'unknown';
        }
        pending.clear();
        await ours.runCommand(command, args, text);
        await finished();
        return 'done';
    };
    ours.exitRequested = async () => exiting;
    ours.keyBindings = async () => [...keys.keys()];
    ours.press = async function (key) {
        const handler = keys.get(key);
        await handler?.();
        await finished();
        return handler !== undefined;
    };
})(__osm);
