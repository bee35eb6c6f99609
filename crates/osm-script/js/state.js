// Persistent state: symbols name the values, the host stores them.
//
// A shared symbol, made by osm:sharedStateSymbols and known by identity, names a value that all
// commands share. Every other symbol names a value of one command, by its description. There is no
// way from one zone into the other.
'use strict';
(function (ours) {
    const PREFIX = 'osm:shared/';
    const byName = new Map();
    const byIdentity = new Map();

    // The symbol of a shared key: always the same one for a name.
    function define(name) {
        if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_.-]*$/.test(name)) {
            throw new TypeError('the name of a shared key must start with a letter, and may have letters, digits, dots, dashes and underscores');
        }
        if (!byName.has(name)) {
            const symbol = Symbol(PREFIX + name);
            byName.set(name, symbol);
            byIdentity.set(symbol, name);
        }
        return byName.get(name);
    }
    ours.defineShared = define;

    // Tells the global `context` that its items may have changed.
    function written(key) {
        if (key.shared === 'contextItems') {
            ours.contextChanged?.();
        }
    }

    // The store, by key: {shared} or {command, name}. get returns a list with the value, or an empty list.
    const store = Object.freeze({
        get: (key) => ours.invoke('osm:state', 'get', [key]),
        set: (key, value) => written(key, ours.invoke('osm:state', 'set', [key, value])),
        setDefault: (key, value) => written(key, ours.invoke('osm:state', 'setDefault', [key, value])),
        // The same for a value that stays in the history.
        replace: (key, value) => written(key, ours.invoke('osm:state', 'replace', [key, value])),
        remove: (key) => written(key, ours.invoke('osm:state', 'remove', [key])),
        // The highest of count numbers that no other process is given, all above floor.
        reserve: (key, floor, count) => ours.invoke('osm:state', 'reserve', [key, floor, count]),
    });
    ours.store = store;

    const shown = (key) => ('shared' in key ? `the shared key '${key.shared}'` : `'${key.name}' of '${key.command}'`);
    const same = (one, other) =>
        one.shared === other.shared && one.command === other.command && one.name === other.name;

    // All declared values, for observers and for tui.reset.
    const entries = new Set();
    const warned = new Set();

    // Whether a stored value is of another kind than the default.
    function isForeign(entry, value) {
        const [wanted, found] = [ours.kindOf(entry.preset ?? null), ours.kindOf(value)];
        return wanted !== null && found !== null && wanted !== found;
    }

    // Warns once that the default replaces a value of another kind.
    function warn(entry, value, done) {
        const name = shown(entry.key);
        if (warned.has(name)) {
            return;
        }
        warned.add(name);
        const [wanted, found] = [ours.kindOf(entry.preset), ours.kindOf(value)];
        const text = `Warning: ${name} holds a value of kind ${found}, but ${entry.command} expects ${wanted}; ${done}. The old value is in the history (\`osm session history\`).`;
        ours.invoke('osm:output', 'printError', [text]);
    }

    // The symbols of a definition, with their settings.
    function declared(definitions) {
        const found = new Map();
        for (const [key, value] of Object.entries(definitions)) {
            if (typeof value === 'symbol') {
                found.set(value, { label: key });
            }
        }
        for (const symbol of Object.getOwnPropertySymbols(definitions)) {
            found.set(symbol, definitions[symbol] ?? {});
        }
        return found;
    }

    function keyOf(command, symbol) {
        if (byIdentity.has(symbol)) {
            return { shared: byIdentity.get(symbol) };
        }
        if (symbol.description === undefined || symbol.description === '') {
            throw new TypeError(`createState('${command}'): a symbol needs a description, which is the name of the stored value`);
        }
        return { command, name: symbol.description };
    }

    function makeEntry(command, symbol, definition) {
        const entry = { command, symbol, key: keyOf(command, symbol), preset: undefined, observers: new Set() };
        if (definition.defaultValue !== undefined) {
            entry.preset = ours.plain(definition.defaultValue, `the default of ${shown(entry.key)}`);
        }
        return entry;
    }

    // Sets the default where no value is stored, or one of another kind.
    function start(entry) {
        if (entry.preset === undefined) {
            return;
        }
        const stored = store.get(entry.key);
        if (stored.length === 0) {
            store.setDefault(entry.key, entry.preset);
        } else if (isForeign(entry, stored[0])) {
            store.replace(entry.key, entry.preset);
            warn(entry, stored[0], 'osm has stored the default');
        }
    }

    function read(entry) {
        const stored = store.get(entry.key);
        if (stored.length > 0 && !isForeign(entry, stored[0])) {
            return stored[0];
        }
        if (stored.length > 0) {
            warn(entry, stored[0], 'using the default');
        }
        return entry.preset === undefined ? undefined : ours.plain(entry.preset, 'the default');
    }

    function restart(entry) {
        if (entry.preset === undefined) {
            store.remove(entry.key);
        } else {
            store.set(entry.key, entry.preset);
        }
    }

    ours.createState = function (command, definitions) {
        if (typeof command !== 'string' || command === '' || command.includes(':')) {
            throw new TypeError(`createState: the name of a state must be a string without a colon, not ${ours.quoted(command)}`);
        }
        if (typeof definitions !== 'object' || definitions === null) {
            throw new TypeError(`createState('${command}'): the definitions must be an object: { [Symbol('name')]: { defaultValue } }`);
        }
        const mine = new Map();
        for (const [symbol, definition] of declared(definitions)) {
            const entry = makeEntry(command, symbol, definition);
            for (const other of mine.values()) {
                if (same(other.key, entry.key)) {
                    throw new TypeError(`createState('${command}'): two symbols have the description '${entry.key.name}' and would share a value`);
                }
            }
            mine.set(symbol, entry);
        }
        for (const entry of mine.values()) {
            start(entry);
            entries.add(entry);
        }
        const need = (symbol) => {
            const entry = mine.get(symbol);
            if (entry === undefined) {
                const names = [...mine.keys()].map(String).join(', ') || 'none';
                throw new TypeError(`the state of '${command}' has no ${ours.quoted(symbol)}; its symbols: ${names}`);
            }
            return entry;
        };
        const state = Object.freeze({
            get: (symbol) => read(need(symbol)),
            set: (symbol, value) => {
                const entry = need(symbol);
                store.set(entry.key, ours.plain(value, shown(entry.key)));
            },
            reset: (symbol) => (symbol === undefined ? [...mine.values()] : [need(symbol)]).forEach(restart),
            observe: (symbol, observer) => {
                if (typeof observer !== 'function') {
                    throw new TypeError('observe takes a symbol and a function');
                }
                const { observers } = need(symbol);
                observers.add(observer);
                return () => void observers.delete(observer);
            },
        });
        states.set(command, state);
        return state;
    };

    // The state of a mode for its commands: the one with the mode's name, or else the last one.
    const states = new Map();
    ours.stateOf = (name) => states.get(name) ?? [...states.values()].at(-1);

    ours.resetState = () => entries.forEach(restart);

    const listeners = new Set();
    ours.onStateChange = function (listener) {
        if (typeof listener !== 'function') {
            throw new TypeError('onStateChange takes a function');
        }
        listeners.add(listener);
        return () => void listeners.delete(listener);
    };

    // Calls the observers of changed keys; all of them, even where one throws.
    ours.changed = async function (keys) {
        keys.forEach(written);
        const calls = [];
        for (const entry of entries) {
            if (keys.some((key) => same(key, entry.key))) {
                entry.observers.forEach((observer) => calls.push(() => observer(read(entry), entry.symbol)));
            }
        }
        listeners.forEach((listener) => calls.push(() => listener(keys.map((key) => ({ ...key })))));
        const failures = [];
        for (const call of calls) {
            try {
                await call();
            } catch (error) {
                failures.push(error);
            }
        }
        if (failures.length > 0) {
            throw failures[0];
        }
    };
})(__osm);
