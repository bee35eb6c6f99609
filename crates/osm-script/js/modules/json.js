// JSON: parse, stringify, query, patch and compare.
'use strict';
const { structuredClone } = require('osm:web/clone');

exports.parse = function (text) {
    if (text === undefined || text === null) {
        throw new TypeError('parse: argument 1 must be a string');
    }
    try {
        return JSON.parse(text);
    } catch (error) {
        throw error instanceof SyntaxError ? new TypeError(`invalid JSON: ${error.message}`) : error;
    }
};
exports.stringify = (value, indent) => JSON.stringify(value, null, indent);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isPlace = (text) => /^[-+]?\d+$/.test(text);

// Sets an own property, also one named __proto__.
function set(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);

// The steps of a path such as a.b[0].c[*]: keys, places in a list, and every item of a list.
function steps(path) {
    const found = [];
    for (const [, inside, key] of path.matchAll(/\[([^\]]*)\]|([^.[]+|\[.*)/gs)) {
        if (inside === '*') {
            found.push({ every: true });
        } else if (inside !== undefined && isPlace(inside)) {
            found.push({ place: Number(inside) });
        } else {
            found.push({ key: inside ?? key });
        }
    }
    return found;
}

// The values that a path leads to from some values.
function follow(values, path) {
    let found = values;
    for (const [at, { key, place, every }] of path.entries()) {
        if (every) {
            // Every item goes on by itself, because each list of results is a result.
            const rest = path.slice(at + 1);
            return found.filter(Array.isArray).map((list) => list.flatMap((item) => follow([item], rest)));
        }
        found = found.flatMap((value) => {
            const has = key === undefined
                ? Array.isArray(value) && place >= 0 && place < value.length
                : isObject(value) && Object.hasOwn(value, key);
            return has ? [value[key ?? place]] : [];
        });
    }
    return found;
}

// The value at a path, or undefined.
exports.query = function (value, path) {
    if (value === undefined || value === null) {
        return undefined;
    }
    if (path === undefined || path === null) {
        throw new TypeError('query: argument 2 must be a string');
    }
    return follow([value], steps(String(path)))[0];
};

// Changes a target, which is ours.
function merge(target, patch) {
    if (!isObject(patch)) {
        return patch;
    }
    const merged = isObject(target) ? target : {};
    for (const [key, value] of Object.entries(patch)) {
        if (value === null || value === undefined) {
            delete merged[key];
        } else {
            set(merged, key, merge(own(merged, key), value));
        }
    }
    return merged;
}

// RFC 7386. The result shares nothing with the arguments.
exports.mergePatch = (target, patch) => merge(structuredClone(target), structuredClone(patch ?? null));

// What changed: a list of {op, path, value, oldValue}; a path is a JSON Pointer.
function diff(before, after, path) {
    const both = (kind) => kind(before) && kind(after);
    if (!both(isObject) && !both(Array.isArray)) {
        const [value, oldValue] = [after ?? null, before ?? null];
        return value === oldValue ? [] : [{ op: 'replace', path, value, oldValue }];
    }
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const sorted = Array.isArray(after) ? keys.sort((one, other) => one - other) : keys.sort();
    return sorted.flatMap((key) => {
        const place = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (!Object.hasOwn(after, key)) {
            return [{ op: 'remove', path: place, oldValue: before[key] }];
        }
        if (!Object.hasOwn(before, key)) {
            return [{ op: 'add', path: place, value: after[key] }];
        }
        return diff(before[key], after[key], place);
    });
}
exports.diff = (before, after) => diff(before, after, '');

function needObject(name, value) {
    if (!isObject(value)) {
        throw new TypeError(`${name}: argument 1 must be an object`);
    }
}

// Objects become key.key, lists key[0]; what is empty stays.
exports.flatten = function (value, separator) {
    needObject('flatten', value);
    const between = String(separator ?? '.');
    const flat = {};
    (function walk(at, path) {
        const isInner = typeof at === 'object' && at !== null;
        const inner = isInner ? Object.entries(at) : [];
        if (!isInner || (inner.length === 0 && path !== '')) {
            set(flat, path, at);
        }
        for (const [key, each] of inner) {
            const named = path === '' ? key : path + between + key;
            walk(each, Array.isArray(at) ? `${path}[${key}]` : named);
        }
    })(value, '');
    return flat;
};

// The keys and places of a flat key.
function flatSteps(path, between) {
    const parts = between === '' ? [path] : path.split(between);
    return parts.flatMap((part) =>
        [...part.matchAll(/\[([^\]]*)\]|([^[]+|\[.*)/gs)].map(([whole, inside, key]) => {
            const isListed = inside !== undefined && isPlace(inside);
            return isListed ? { place: Number(inside) } : { key: key ?? whole };
        }),
    );
}

// A list longer than this is a mistake, or an attack on the memory.
const LONGEST = 1e6;

exports.unflatten = function (flat, separator) {
    needObject('unflatten', flat);
    const between = String(separator ?? '.');
    const root = { whole: {} };
    for (const path of Object.keys(flat).sort()) {
        let [holder, name] = [root, 'whole'];
        for (const { key, place } of flatSteps(path, between)) {
            const isList = key === undefined;
            if (isList && (place < 0 || place >= LONGEST)) {
                throw new RangeError(`unflatten: ${place} is not a place in a list`);
            }
            let inner = own(holder, name);
            if (isList ? !Array.isArray(inner) : !isObject(inner)) {
                inner = isList ? [] : {};
                set(holder, name, inner);
            }
            for (let next = inner.length; isList && next < place; next += 1) {
                inner[next] = null;
            }
            [holder, name] = [inner, key ?? place];
        }
        set(holder, name, flat[path]);
    }
    return root.whole;
};
