// The context of a prompt: its items, and the commands that change them.
//
// A command either succeeds completely or throws; the program then discards all of its changes.
'use strict';
const { parseArgv, formatArgv } = require('osm:argv');
const { openEditor, clipboardCopy } = require('osm:os');
const tokenizer = require('osm:tokenizer');
const texts = require('osm:ctxutil/texts');
const ours = __osm;
const { callContext: call, oneLine } = ours;

const ITEMS = { shared: 'contextItems' };
const HIGHEST = { shared: 'contextHighestId' };
const LATER = '(run when the prompt is built)';
// A higher number is not a valid id, so that there is room for the ids that follow.
const HIGHEST_ID = 2 ** 31;
const isId = (value) => Number.isInteger(value) && value >= 0 && value <= HIGHEST_ID;

// A fenced block with a fence longer than any in the text.
function fenced(text, info) {
    const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
    const fence = '`'.repeat(Math.max(3, longest + 1));
    return `${fence}${info}\n${text.endsWith('\n') || text === '' ? text : `${text}\n`}${fence}\n`;
}

// The sections of all items. With toTxtar, the files are one block at the end.
exports.buildContext = function (items, options) {
    const toTxtar = options?.toTxtar;
    if (typeof toTxtar !== 'function') {
        return call('build', items).text;
    }
    ours.followItems(items);
    const others = items.filter((item) => item.type !== 'file');
    const parts = others.length === 0 ? [] : [call('build', others).text];
    const files = String(toTxtar() ?? '');
    if (files.trim() !== '') {
        parts.push(`### Files\n\n${fenced(files, 'txtar')}`);
    }
    return parts.map((part) => `${part.trimEnd()}\n`).join('\n');
};

// Calls next with a value, or with what a promise resolves to.
const then = (value, next) => (typeof value?.then === 'function' ? value.then(next) : next(value));

// Whether the only option of a command was given; any other argument is an error.
function flag(args, name, command) {
    const rest = args.filter((arg) => arg !== name);
    if (rest.length > 0) {
        throw new Error(`${command}: unexpected argument ${ours.quoted(rest[0])}; usage: ${texts.COMMANDS[command].usage}`);
    }
    return args.length > 0;
}

exports.contextManager = function (options = {}) {
    const stored = options.getItems ?? (() => ours.store.get(ITEMS)[0] ?? []);
    const store = options.setItems ?? ((items) => ours.store.set(ITEMS, ours.plain(items, 'contextItems')));
    const nextId = options.nextIntegerId ?? require('osm:nextIntegerId');
    const say = (text) => output.print(text);
    const tell = (text) => output.tell(text);

    // The highest of some ids and of all ids given before.
    function highest(ids) {
        const given = ours.store.get(HIGHEST)[0];
        return ids.reduce((most, id) => Math.max(most, id), isId(given) ? given : 0);
    }

    // The items, each with a unique id. Another tool may have stored an item without an id, or two with
    // the same; such an item gets the next id here, and keeps it with the next change.
    function getItems() {
        const items = stored();
        const list = Array.isArray(items) ? items : [];
        const owners = new Map();
        for (const item of list) {
            if (isId(item?.id) && !owners.has(item.id)) {
                owners.set(item.id, item);
            }
        }
        if (owners.size === list.length) {
            return list;
        }
        let id = highest([...owners.keys()]);
        const fields = (item) => (typeof item === 'object' && !Array.isArray(item) ? item : { value: item });
        return list.map((item) => (owners.get(item?.id) === item ? item : { ...fields(item), id: ++id }));
    }

    function setItems(items) {
        store(items);
        if (Object.hasOwn(ours.modules, 'osm:context')) {
            ours.followItems(items);
        }
    }

    // Adds items in one step. An id is never reused, so that it names one item for ever; and it is
    // reserved, so that no other terminal gives it to another item at the same time.
    function addItems(fresh) {
        if (fresh.length === 0) {
            return [];
        }
        const items = getItems();
        let id = ours.store.reserve(HIGHEST, nextId(items) - 1, fresh.length) - fresh.length;
        const added = fresh.map((item) => ({ id: ++id, ...item }));
        setItems([...items, ...added]);
        return added;
    }

    function addItem(type, label, payload, more) {
        const [item] = addItems([{ type, label, ...(payload === undefined ? {} : { payload }), ...more }]);
        return item.id;
    }

    function itemsNamed(args, command) {
        const items = getItems();
        const there = items.map((item) => `[${item.id}]`).join(', ') || 'none';
        return args.map((arg) => {
            const digits = /^\[?(\d+)\]?$/.exec(arg);
            if (digits === null) {
                throw new Error(`${command}: ${ours.quoted(arg)} is not an id; ids: ${there}`);
            }
            const item = items.find((each) => each.id === Number(digits[1]));
            if (item === undefined) {
                throw new Error(`${command}: no item [${digits[1]}]; ids: ${there}`);
            }
            return item;
        });
    }

    function removeItems(removed) {
        const items = getItems();
        // Another tool may have given a higher id, which is not reused either.
        const most = highest(removed.map((item) => item.id));
        if (most > highest([])) {
            ours.store.reserve(HIGHEST, most, 0);
        }
        setItems(items.filter((item) => !removed.some((each) => each.id === item.id)));
    }

    // Adds paths that the user typed: all of them, or none.
    function addPaths(paths) {
        const { found, failed, skipped } = call('resolve', paths);
        if (failed.length > 0) {
            const why = failed.map((each) => `\n  ${oneLine(each.path)}: ${each.message}`).join('');
            throw new Error(`nothing added:${why}`);
        }
        addFound(found);
        reportLeftOut(skipped);
    }

    function reportLeftOut(skipped = []) {
        skipped.forEach(({ path, reason }) => tell(`Left out: ${oneLine(path)}: ${oneLine(reason)}`));
    }

    function addFound(found) {
        // An item of another tool may have no path.
        const name = (item) => item.path ?? `label ${item.label}`;
        const known = new Map(getItems().filter((item) => item.type === 'file').map((item) => [name(item), item]));
        const fresh = [];
        const folders = new Set();
        for (const { path, real, label, folder } of found) {
            const there = known.get(path) ?? known.get(`label ${label}`);
            if (there === undefined) {
                const item = { type: 'file', label, path, real };
                known.set(path, item);
                fresh.push(item);
                folder && folders.add(path);
            } else if (there.id !== undefined) {
                tell(`Already added: ${oneLine(there.label ?? there.path)} [${there.id}]`);
            }
        }
        addItems(fresh).forEach(({ id, label, path }) => tell(`Added ${folders.has(path) ? 'folder' : 'file'}: ${oneLine(label)} [${id}]`));
    }

    function add(args) {
        if (args[0] === '--from-diff') {
            const { found, skipped = [], error } = call('changed', args.slice(1));
            if (error !== null && error !== undefined) {
                throw new Error(`git diff --name-only failed: ${error}`);
            }
            if (found.length + skipped.length === 0) {
                return tell('No files found in diff.');
            }
            addFound(found);
            return reportLeftOut(skipped);
        }
        const unknown = args.find((arg) => arg.startsWith('--'));
        if (unknown !== undefined) {
            throw new Error(`add: unknown option ${ours.quoted(unknown)}; usage: ${texts.COMMANDS.add.usage}; for a file of that name use ./${oneLine(unknown)}`);
        }
        const typed = () => openEditor('paths', '# One path on each line. Lines that start with # are ignored.\n').split('\n');
        const paths = args.length > 0 ? args : typed().map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
        return paths.length === 0 ? tell('No paths given; nothing added.') : addPaths(paths);
    }

    // Checks the arguments of a diff now, and not when the prompt is built; returns the label.
    function checked(command, args, folder) {
        const label = ['git diff', formatArgv(args)].join(' ').trim();
        try {
            call('checkDiff', { arguments: [...args], folder });
        } catch (error) {
            throw new Error(`${command}: ${oneLine(label)}: ${error.message}`);
        }
        return label;
    }

    function diff(args) {
        const folder = call('folder');
        const label = checked('diff', args, folder);
        const id = addItem('lazy-diff', label, [...args], { folder });
        tell(`Added diff: ${oneLine(label)} [${id}] ${LATER}`);
    }

    function exec(args) {
        if (args.length === 0) {
            throw new Error('exec: missing command; usage: exec <command> [arguments]');
        }
        const label = formatArgv(args);
        const id = addItem('lazy-exec', label, [...args], { folder: call('folder') });
        tell(`Added exec: ${oneLine(label)} [${id}] ${LATER}`);
    }

    function note(args) {
        texts.refuseOption('note', texts.COMMANDS.note.usage, args);
        const text = args.length > 0 ? texts.typed(args) : openEditor('note', '').replace(/\n+$/, '');
        if (text.trim() === '') {
            return tell('Empty note; nothing added.');
        }
        return tell(`Added note [${addItem('note', 'note', text)}]`);
    }

    function list(args) {
        const items = getItems();
        const described = items.length === 0 ? [] : call('describe', items);
        if (flag(args, '--json', 'list')) {
            return say(JSON.stringify(described, null, 2));
        }
        if (items.length === 0) {
            return tell('No items yet. Add some with add, diff, exec or note.');
        }
        described.forEach((each) => texts.listed(each).forEach(say));
        const total = texts.total(described, budget());
        say(texts.totalLine(total, described));
        return warn(total);
    }

    // The program returns its setting with every prompt that it builds.
    const budget = () => call('build', []).stats.budget ?? null;

    // Shows the warnings about a prompt.
    function warn(stats) {
        (stats.warnings ?? []).forEach((warning) => tell(`Warning: ${oneLine(warning)}`));
        if (texts.isOver(stats)) {
            tell(texts.overBudget(stats));
        }
    }

    function change(item, changed) {
        setItems(getItems().map((each) => (each.id === item.id ? { ...each, ...changed } : each)));
    }

    function edit(args) {
        if (args.length !== 1) {
            throw new Error('edit: missing id; usage: edit <id>');
        }
        const [item] = itemsNamed(args, 'edit');
        if (item.type === 'file') {
            throw new Error(`edit: [${item.id}] is a file; edit ${oneLine(item.label)} itself, osm reads it when it builds the prompt`);
        }
        const isLazy = item.type === 'lazy-diff' || item.type === 'lazy-exec';
        if (isLazy) {
            const before = Array.isArray(item.payload) ? item.payload : parseArgv(String(item.payload ?? ''));
            const words = parseArgv(openEditor(String(item.label || item.type), formatArgv(before)).trim());
            if (item.type === 'lazy-exec' && words.length === 0) {
                throw new Error('edit: the command is empty');
            }
            const label = item.type === 'lazy-exec' ? formatArgv(words) : checked('edit', words, item.folder);
            change(item, { payload: words, label });
            return tell(`Updated ${item.type === 'lazy-exec' ? 'exec' : 'diff'} specification [${item.id}]`);
        }
        if (typeof item.payload !== 'string') {
            throw new Error(`edit: [${item.id}] is a ${oneLine(item.type)} item, which has no text`);
        }
        change(item, { payload: openEditor(String(item.label || item.type || 'item'), item.payload).replace(/\n+$/, '') });
        return tell(`Edited [${item.id}]`);
    }

    function remove(args) {
        if (args.length === 0) {
            throw new Error('remove: missing id; usage: remove <id>…');
        }
        const items = [...new Set(itemsNamed(args, 'remove'))];
        removeItems(items);
        items.forEach((item) => tell(`Removed [${item.id}]`));
    }

    // The prompt as the program builds it, or as the script's buildPrompt does.
    const isNative = typeof options.buildPrompt !== 'function';
    const request = () => {
        const { template, data, name } = options.prompt?.() ?? {};
        return { template: template ?? '{{ context }}', data: data ?? {}, items: getItems(), name };
    };
    const statsOf = (text) => ({
        tokens: tokenizer.count(text),
        lines: tokenizer.lineCount(text),
        bytes: tokenizer.byteCount(text),
        budget: budget(),
    });
    const built = () =>
        isNative ? call('prompt', request()) : then(options.buildPrompt(), (text) => ({ text: String(text), stats: null }));

    function show(args) {
        if (flag(args, '--json', 'show')) {
            return then(built(), ({ text, stats }) => say(JSON.stringify({ text, stats: stats ?? statsOf(text) }, null, 2)));
        }
        // Only the prompt goes to standard output; its size goes to standard error.
        const shown = (stats) => {
            tell(texts.summary(stats));
            warn(stats);
        };
        if (isNative) {
            return shown(call('show', request()));
        }
        return then(built(), ({ text }) => {
            say(text);
            shown(statsOf(text));
        });
    }

    function copied(stats) {
        tell(`Copied ${texts.summary(stats)}`);
        warn(stats);
        if (options.postCopyHint) {
            tell(String(options.postCopyHint));
        }
    }

    function copy(args) {
        flag(args, '', 'copy');
        if (isNative) {
            return copied(call('copy', request()));
        }
        return then(built(), ({ text }) => {
            clipboardCopy(text);
            copied(statsOf(text));
        });
    }

    // Lists the items that the session already has. A missing file stays: it may come back.
    function rehydrate() {
        const items = getItems();
        const files = items.filter((item) => item.type === 'file');
        if (items.length === 0) {
            return { items: 0, files: 0, missing: [] };
        }
        const missing = files.length === 0 ? [] : call('missing', files);
        tell(texts.restored(items.length, files.length));
        files.filter((item) => missing.includes(item.id)).forEach((item) => {
            ours.missingReported(item);
            tell(`Missing: ${oneLine(item.label || item.path)} [${item.id}]`);
        });
        ours.followItems(items);
        return { items: items.length, files: files.length, missing };
    }

    tui.registerCompleter('item', () => getItems().map(({ id, label }) => ({ text: String(id), description: oneLine(label) })));
    const handlers = { add, diff, exec, note, list, edit, remove, show, copy };
    const commands = {};
    for (const [name, about] of Object.entries(texts.COMMANDS)) {
        commands[name] = { ...about, handler: handlers[name] };
    }
    return {
        commands,
        getItems,
        setItems,
        addItem,
        removeItem: (id) => removeItems(itemsNamed([String(id)], 'remove')),
        rehydrate,
        buildPrompt: () => then(built(), ({ text }) => text),
    };
};
