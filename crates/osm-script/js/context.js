// context: files and folders that a script has added, by the program's module osm:context.
//
// Files are read when they are needed. The files of the session's contextItems, and of a contextManager's
// items, are tracked here, so that toTxtar() includes them, also after a restart.
'use strict';
(function (ours) {
    const picked = new Map();
    const ITEMS = 'contextItems';
    // Whether the stored items may have changed since they were last followed.
    let isStale = true;
    const reported = new Set();

    // Calls the program's module, if it has one.
    function call(name, ...args) {
        if (!Object.hasOwn(ours.modules, 'osm:context')) {
            throw new Error("the module 'osm:context' is not available here");
        }
        return ours.invoke('osm:context', name, args);
    }
    ours.callContext = call;

    function resolve(path) {
        if (typeof path !== 'string' || path === '') {
            throw new TypeError('a path must be a non-empty string');
        }
        const { found, failed } = call('resolve', [path]);
        if (failed.length > 0) {
            throw new Error(`${ours.oneLine(failed[0].path)}: ${failed[0].message}`);
        }
        return found;
    }

    // Follows the stored items, if they may have changed. A missing file is reported once, and stays.
    function rehydrate() {
        if (!isStale || !Object.hasOwn(ours.modules, 'osm:context')) {
            return;
        }
        const [items] = ours.store.get({ shared: ITEMS });
        const list = Array.isArray(items) ? items : [];
        ours.followItems(list);
        const name = (item) => item.path ?? item.label;
        const files = list
            .filter((item) => item?.type === 'file' && typeof name(item) === 'string' && !reported.has(name(item)))
            .map((item, id) => ({ type: 'file', id, ...(typeof item.path === 'string' ? { path: item.path } : {}), label: String(item.label ?? item.path) }));
        const missing = files.length === 0 ? [] : call('missing', files);
        files.filter((item) => missing.includes(item.id)).forEach((item) => {
            reported.add(name(item));
            ours.invoke('osm:output', 'tell', [`Missing: ${ours.oneLine(item.label)} (kept in contextItems)`]);
        });
    }
    ours.contextChanged = () => void (isStale = true);
    ours.missingReported = (item) => void reported.add(item.path ?? item.label);

    const plain = (path) => String(path).replace(/^(\.\/)+/, '').replace(/\/+$/, '');
    const nameOf = (path) => plain(path).split('/').at(-1);

    // The entry of a path, a label, or an unambiguous file name.
    function find(path) {
        const all = [...picked.values()];
        const exact = all.find((each) => each.path === path || each.label === path);
        const alike = exact ?? all.find((each) => plain(each.path) === plain(path) || plain(each.label) === plain(path));
        if (alike !== undefined) {
            return alike;
        }
        const named = all.filter((each) => nameOf(each.path) === path);
        if (named.length > 1) {
            throw new Error(ours.oneLine(`${path} is ambiguous: ${named.map((each) => each.label).join(', ')}`));
        }
        return named[0];
    }

    const paths = () => [...picked.keys()];
    const files = () => (picked.size === 0 ? [] : call('files', paths()));
    const sum = (list) => list.reduce((total, each) => total + each.size, 0);

    function getPath(path) {
        const entry = find(path);
        if (entry === undefined) {
            const inside = files().find((each) => each.path === path || each.label === plain(path));
            return inside === undefined ? null : { path: inside.path, label: inside.label, type: 'file', size: inside.size, files: [inside.label] };
        }
        const inside = call('files', [entry.path]);
        const type = entry.folder ? 'directory' : 'file';
        return { path: entry.path, label: entry.label, type, size: sum(inside), files: inside.map((each) => each.label) };
    }

    function refreshPath(path) {
        const entry = find(path);
        if (entry === undefined) {
            throw new Error(`${ours.oneLine(path)} was not added`);
        }
        resolve(entry.path);
    }

    const functions = {
        addPath: (path) => resolve(path).forEach((each) => picked.set(each.path, { ...each, item: false })),
        removePath: (path) => {
            const entry = find(path);
            if (entry !== undefined) {
                picked.delete(entry.path);
            }
        },
        listPaths: () => [...picked.values()].map((each) => each.label),
        getPath,
        refreshPath,
        toTxtar: () => (picked.size === 0 ? '' : call('txtar', paths())),
        fromTxtar: (text) => call('fromTxtar', String(text)),
        getStats: () => {
            const all = files();
            const directories = [...picked.values()].filter((each) => each.folder).length;
            return { totalPaths: picked.size, files: all.length, directories, totalSize: sum(all) };
        },
        filterPaths: (pattern) => {
            const { match } = require('osm:path');
            const labels = files().map((each) => each.label);
            const fits = (name) => {
                const { matched, error } = match(pattern, name);
                if (error !== null) {
                    throw new Error(`invalid pattern ${ours.quoted(pattern)}: ${error}`);
                }
                return matched;
            };
            return labels.filter((label) => fits(label) || fits(nameOf(label)));
        },
        getFilesByExt: (extension) => {
            const wanted = `.${String(extension).replace(/^\./, '')}`;
            return files().map((each) => each.label).filter((label) => label.endsWith(wanted));
        },
    };
    const rehydrated = (run) => (...args) => {
        rehydrate();
        return run(...args);
    };
    globalThis.context = Object.freeze({
        ...Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, rehydrated(run)])),
        fromTxtar: functions.fromTxtar,
    });

    // Tracks the files of a list of items. A missing file is not an error, because it may come back; nor is
    // an item without a path, because other tools write sessions too.
    ours.followItems = function (items) {
        isStale = false;
        const text = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
        const named = items
            .filter((item) => item?.type === 'file')
            .map((item) => ({ path: text(item.path), label: text(item.label) }))
            .filter((item) => (item.path ?? item.label) !== undefined);
        const wanted = new Set(named.map((item) => item.path ?? item.label));
        for (const [path, entry] of picked) {
            if (entry.item && !wanted.has(path) && !wanted.has(entry.label)) {
                picked.delete(path);
            }
        }
        for (const item of named) {
            if (item.path !== undefined && !picked.has(item.path)) {
                picked.set(item.path, { path: item.path, label: item.label ?? item.path, folder: false, item: true });
            } else if (item.path === undefined && find(item.label) === undefined) {
                const { found } = call('resolve', [item.label]);
                if (found.length === 0) {
                    picked.set(item.label, { path: item.label, label: item.label, folder: false, item: true });
                }
                found.forEach((each) => picked.set(each.path, { ...each, label: item.label, item: true }));
            }
        }
    };
})(__osm);
