// JSON: parse, stringify, query, patch and compare.
'use strict';

exports.parse = (text) => JSON.parse(text);
exports.stringify = (value, indent) => JSON.stringify(value, null, indent);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

// The parts of a path such as a.b[0].c
function parts(path) {
    return String(path)
        .replace(/\[(\d+)\]/g, '.$1')
        .split('.')
        .filter((part) => part !== '');
}

// The value at a path, or undefined.
exports.query = function (value, path) {
    let at = value;
    for (const part of parts(path)) {
        if (at === null || typeof at !== 'object' || !Object.hasOwn(at, part)) {
            return undefined;
        }
        at = at[part];
    }
    return at;
};

// Sets an own property, also one named __proto__.
function set(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

// RFC 7386.
function mergePatch(target, patch) {
    if (!isObject(patch)) {
        return patch;
    }
    const merged = {};
    for (const [key, value] of Object.entries(isObject(target) ? target : {})) {
        set(merged, key, value);
    }
    for (const [key, value] of Object.entries(patch)) {
        if (value === null) {
            delete merged[key];
        } else {
            set(merged, key, mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
        }
    }
    return merged;
}
exports.mergePatch = mergePatch;

// What changed: a list of {op, path, value}.
function diff(before, after, path = '') {
    const both = (kind) => kind(before) && kind(after);
    if (!both(isObject) && !both(Array.isArray)) {
        return JSON.stringify(before) === JSON.stringify(after)
            ? []
            : [{ op: 'replace', path: path || '/', value: after }];
    }
    const changes = [];
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
        const place = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (!Object.hasOwn(after, key)) {
            changes.push({ op: 'remove', path: place });
        } else if (!Object.hasOwn(before, key)) {
            changes.push({ op: 'add', path: place, value: after[key] });
        } else {
            changes.push(...diff(before[key], after[key], place));
        }
    }
    return changes;
}
exports.diff = (before, after) => diff(before, after);

exports.flatten = function (value, between = '.') {
    const flat = {};
    (function walk(at, path) {
        const isLeaf = typeof at !== 'object' || at === null || Object.keys(at).length === 0;
        if (isLeaf) {
            set(flat, path, at);
            return;
        }
        for (const [key, inner] of Object.entries(at)) {
            walk(inner, path === '' ? key : path + between + key);
        }
    })(value, '');
    return flat;
};

exports.unflatten = function (flat, between = '.') {
    const whole = {};
    for (const [path, value] of Object.entries(flat)) {
        const keys = path.split(between);
        let at = whole;
        for (const key of keys.slice(0, -1)) {
            if (!Object.hasOwn(at, key) || typeof at[key] !== 'object' || at[key] === null) {
                set(at, key, {});
            }
            at = at[key];
        }
        set(at, keys.at(-1), value);
    }
    return whole;
};
