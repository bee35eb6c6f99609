// The context of a prompt: items, and the commands with which people work on them.
//
// A command either does all that it was asked, or throws and has changed nothing: whoever runs it
// takes the state back.
'use strict';
const { parseArgv, formatArgv } = require('osm:argv');
const { openEditor, clipboardCopy } = require('osm:os');
const tokenizer = require('osm:tokenizer');
const texts = require('osm:ctxutil/texts');
const ours = __osm;
const { callContext: call, oneLine } = ours;

const ITEMS = { shared: 'contextItems' };
const HIGHEST = { shared: 'contextHighestId' };
const LATER = '(taken when the prompt is built)';
// Ids beyond are none: there must be room for those that come after them.
const HIGHEST_ID = 2 ** 31;
const isId = (value) => Number.isInteger(value) && value >= 0 && value <= HIGHEST_ID;

// A text that no content can break out of.
function fenced(text, info) {
    const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
    const fence = '`'.repeat(Math.max(3, longest + 1));
    return `${fence}${info}\n${text.endsWith('\n') || text === '' ? text : `${text}\n`}${fence}\n`;
}

// The sections of all items. With toTxtar, files are one block at the end, which that gives.
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

// What follows a value, now or when its promise is kept.
const then = (value, next) => (typeof value?.then === 'function' ? value.then(next) : next(value));

// Takes a switch out of the arguments of a command; whatever else looks like one is a mistake.
function flag(args, name, command) {
    const rest = args.filter((arg) => arg !== name);
    if (rest.length > 0) {
        throw new Error(`${command}: ${ours.quoted(rest[0])} is not understood; usage: ${texts.COMMANDS[command].usage}`);
    }
    return args.length > 0;
}

exports.contextManager = function (options = {}) {
    const stored = options.getItems ?? (() => ours.store.get(ITEMS)[0] ?? []);
    const store = options.setItems ?? ((items) => ours.store.set(ITEMS, ours.plain(items, 'contextItems')));
    const nextId = options.nextIntegerId ?? require('osm:nextIntegerId');
    const say = (text) => output.print(text);
    const tell = (text) => output.tell(text);

    // The highest of some ids, and of all that were given before.
    function highest(ids) {
        const given = ours.store.get(HIGHEST)[0];
        return ids.reduce((most, id) => Math.max(most, id), isId(given) ? given : 0);
    }

    // The items, each with an id of its own. Another tool may have written down what has none, or one
    // twice, and it could never be named; it gets the next, and keeps it when something changes.
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

    // Adds items, all in one step. An id is never given twice, so what was removed cannot be mistaken
    // for what came after it.
    function addItems(fresh) {
        const items = getItems();
        let id = Math.max(nextId(items), highest([]) + 1);
        const added = fresh.map((item) => ({ id: id++, ...item }));
        if (added.length > 0) {
            ours.store.set(HIGHEST, id - 1);
            setItems([...items, ...added]);
        }
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
                throw new Error(`${command}: ${ours.quoted(arg)} is no id; there are: ${there}`);
            }
            const item = items.find((each) => each.id === Number(digits[1]));
            if (item === undefined) {
                throw new Error(`${command}: there is no [${digits[1]}]; there are: ${there}`);
            }
            return item;
        });
    }

    function removeItems(removed) {
        const items = getItems();
        // One that another tool gave may be higher than all of ours, and is not given again either.
        const most = highest(removed.map((item) => item.id));
        if (most > highest([])) {
            ours.store.set(HIGHEST, most);
        }
        setItems(items.filter((item) => !removed.some((each) => each.id === item.id)));
    }

    // Paths that somebody typed: all of them, or none.
    function addPaths(paths) {
        const { found, failed, skipped } = call('resolve', paths);
        if (failed.length > 0) {
            const why = failed.map((each) => `\n  ${oneLine(each.path)}: ${each.message}`).join('');
            throw new Error(`nothing was added; there is a problem with${why}`);
        }
        addFound(found);
        leaveOut(skipped);
    }

    // Paths that a diff names: what was removed since is no mistake of whoever asked.
    function addChanged(paths, skipped) {
        const { found, failed } = call('resolve', paths);
        addFound(found);
        leaveOut(failed.map(({ path, message }) => ({ path, reason: message })));
        leaveOut(skipped);
    }

    function leaveOut(skipped = []) {
        skipped.forEach(({ path, reason }) => tell(`Left out: ${oneLine(path)}: ${oneLine(reason)}`));
    }

    function addFound(found) {
        // What another tool wrote down has no path.
        const name = (item) => item.path ?? `label ${item.label}`;
        const known = new Map(getItems().filter((item) => item.type === 'file').map((item) => [name(item), item]));
        const fresh = [];
        const folders = new Set();
        for (const { path, label, folder } of found) {
            const there = known.get(path) ?? known.get(`label ${label}`);
            if (there === undefined) {
                const item = { type: 'file', label, path };
                known.set(path, item);
                fresh.push(item);
                folder && folders.add(path);
            } else if (there.id !== undefined) {
                tell(`Already there: ${oneLine(there.label ?? there.path)} [${there.id}]`);
            }
        }
        addItems(fresh).forEach(({ id, label, path }) => tell(`Added ${folders.has(path) ? 'folder' : 'file'}: ${oneLine(label)} [${id}]`));
    }

    function add(args) {
        if (args[0] === '--from-diff') {
            const { paths, skipped = [], error } = call('changed', args.slice(1));
            if (error !== null && error !== undefined) {
                throw new Error(`git diff --name-only failed: ${error}`);
            }
            return paths.length + skipped.length === 0 ? tell('No files found in diff.') : addChanged(paths, skipped);
        }
        const unknown = args.find((arg) => arg.startsWith('--'));
        if (unknown !== undefined) {
            throw new Error(`add: ${ours.quoted(unknown)} is not understood; usage: ${texts.COMMANDS.add.usage}; a file of that name is ./${oneLine(unknown)}`);
        }
        const typed = () => openEditor('paths', '# One path on each line. Lines that start with # are left out.\n').split('\n');
        const paths = args.length > 0 ? args : typed().map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
        return paths.length === 0 ? tell('No paths were given: nothing was added.') : addPaths(paths);
    }

    function diff(args) {
        const label = ['git diff', formatArgv(args)].join(' ').trim();
        const id = addItem('lazy-diff', label, [...args], { folder: call('folder') });
        tell(`Added diff: ${oneLine(label)} [${id}] ${LATER}`);
    }

    function exec(args) {
        if (args.length === 0) {
            throw new Error('exec: there is no command; usage: exec <command> [arguments]');
        }
        const label = formatArgv(args);
        const id = addItem('lazy-exec', label, [...args], { folder: call('folder') });
        tell(`Added exec: ${oneLine(label)} [${id}] ${LATER}`);
    }

    function note(args) {
        texts.refuseOption('note', texts.COMMANDS.note.usage, args);
        const text = args.length > 0 ? args.join(' ') : openEditor('note', '').replace(/\n+$/, '');
        if (text.trim() === '') {
            return tell('The note is empty: nothing was added.');
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
            return tell('There is nothing here yet: add, diff, exec and note put something in.');
        }
        described.forEach((each) => texts.listed(each).forEach(say));
        const total = texts.total(described, budget());
        say(texts.totalLine(total, described));
        return warn(total);
    }

    // The program knows it, and tells it with everything that it builds.
    const budget = () => call('build', []).stats.budget ?? null;

    // What is wrong with a prompt that was made all the same.
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
            throw new Error('edit: which one? usage: edit <id>');
        }
        const [item] = itemsNamed(args, 'edit');
        if (item.type === 'file') {
            throw new Error(`edit: [${item.id}] is a file: edit ${oneLine(item.label)} itself; it is read when the prompt is built`);
        }
        const isLazy = item.type === 'lazy-diff' || item.type === 'lazy-exec';
        if (isLazy) {
            const before = Array.isArray(item.payload) ? item.payload : parseArgv(String(item.payload ?? ''));
            const words = parseArgv(openEditor(String(item.label || item.type), formatArgv(before)).trim());
            if (item.type === 'lazy-exec' && words.length === 0) {
                throw new Error('edit: a command cannot be empty');
            }
            const label = item.type === 'lazy-exec' ? formatArgv(words) : ['git diff', formatArgv(words)].join(' ').trim();
            change(item, { payload: words, label });
            return tell(`Updated ${item.type === 'lazy-exec' ? 'exec' : 'diff'} specification [${item.id}]`);
        }
        if (typeof item.payload !== 'string') {
            throw new Error(`edit: [${item.id}] is a ${oneLine(item.type)}, which has no text`);
        }
        change(item, { payload: openEditor(String(item.label || item.type || 'item'), item.payload).replace(/\n+$/, '') });
        return tell(`Edited [${item.id}]`);
    }

    function remove(args) {
        if (args.length === 0) {
            throw new Error('remove: which one? usage: remove <id>…');
        }
        const items = [...new Set(itemsNamed(args, 'remove'))];
        removeItems(items);
        items.forEach((item) => tell(`Removed [${item.id}]`));
    }

    // The prompt as the program makes it, or as a function of the script does.
    const isNative = typeof options.buildPrompt !== 'function';
    const request = () => {
        const { template, data } = options.prompt?.() ?? {};
        return { template: template ?? '{{ context }}', data: data ?? {}, items: getItems() };
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
        // The prompt alone is output; what it amounts to is said beside it.
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

    // Tells what an earlier command or process has left here. Nothing is dropped: a file that is
    // missing may come back.
    function rehydrate() {
        const items = getItems();
        const files = items.filter((item) => item.type === 'file');
        if (items.length === 0) {
            return { items: 0, files: 0, missing: [] };
        }
        const missing = files.length === 0 ? [] : call('missing', files);
        tell(texts.restored(items.length, files.length));
        files.filter((item) => missing.includes(item.id)).forEach((item) => tell(`Missing: ${oneLine(item.label || item.path)} [${item.id}]`));
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
