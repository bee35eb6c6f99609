// Values that can be kept: what JSON holds, and nothing that it would drop in silence.
'use strict';
(function (ours) {
    // Deeper than this is a mistake; the other side gives up at 128.
    const DEEPEST = 100;

    const isName = (key) => /^[A-Za-z_$][\w$]*$/.test(key);
    const place = (path, key) => {
        if (typeof key === 'number') {
            return `${path}[${key}]`;
        }
        return isName(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    };

    function refuse(path, what) {
        throw new TypeError(`${path} cannot be kept: ${what}`);
    }

    // A copy of a value, made of nothing but JSON. Whatever has a toJSON, such as a Date, is kept as
    // what that gives.
    function plain(value, path, above) {
        switch (typeof value) {
            case 'boolean':
                return value;
            case 'number':
                return Number.isFinite(value) ? value : refuse(path, `it is ${value}`);
            case 'string':
                return value.isWellFormed() ? value : refuse(path, 'it holds half a character (a lone surrogate)');
            case 'object':
                return value === null ? null : plainObject(value, path, above);
            case 'undefined':
                return refuse(path, 'it is undefined; null can be kept');
            default:
                return refuse(path, `it is a ${typeof value}`);
        }
    }

    function plainObject(value, path, above) {
        if (above.includes(value)) {
            refuse(path, 'it holds itself');
        }
        if (above.length >= DEEPEST) {
            refuse(path, `it is nested more than ${DEEPEST} deep`);
        }
        if (value instanceof Date && Number.isNaN(value.getTime())) {
            refuse(path, 'it is a Date that is no date');
        }
        const inside = [...above, value];
        if (typeof value.toJSON === 'function') {
            return plain(value.toJSON(), path, inside);
        }
        if (Array.isArray(value)) {
            const copy = [];
            for (let at = 0; at < value.length; at += 1) {
                copy.push(plain(value[at], place(path, at), inside));
            }
            return copy;
        }
        const prototype = Object.getPrototypeOf(value);
        if (prototype !== Object.prototype && prototype !== null) {
            const name = value.constructor?.name || 'thing with a prototype';
            refuse(path, `it is a ${name}; plain objects and arrays can be kept`);
        }
        const [symbol] = Object.getOwnPropertySymbols(value);
        if (symbol !== undefined) {
            refuse(path, `it has the key ${String(symbol)}, which is no string`);
        }
        const copy = {};
        for (const [key, each] of Object.entries(value)) {
            const kept = plain(each, place(path, key), inside);
            // A key may be called __proto__.
            Object.defineProperty(copy, key, { value: kept, writable: true, enumerable: true, configurable: true });
        }
        return copy;
    }

    ours.plain = (value, name) => plain(value, name, []);

    // What a contract is about; null keeps none.
    ours.kindOf = function (value) {
        if (value === null) {
            return null;
        }
        return Array.isArray(value) ? 'array' : typeof value;
    };
})(__osm);
