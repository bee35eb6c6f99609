// Checks that a value can be stored: JSON must hold it without losing anything.
'use strict';
(function (ours) {
    // The deepest nesting allowed; serde_json refuses more than 128.
    const DEEPEST = 100;

    const isName = (key) => /^[A-Za-z_$][\w$]*$/.test(key);
    const place = (path, key) => {
        if (typeof key === 'number') {
            return `${path}[${key}]`;
        }
        return isName(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    };

    function refuse(path, what) {
        throw new TypeError(`${path} cannot be stored: ${what}`);
    }

    // A copy of a value as plain JSON. An object with toJSON, such as a Date, is replaced by its result.
    function plain(value, path, above) {
        switch (typeof value) {
            case 'boolean':
                return value;
            case 'number':
                return Number.isFinite(value) ? value : refuse(path, `it is ${value}`);
            case 'string':
                return value.isWellFormed() ? value : refuse(path, 'it contains a lone surrogate');
            case 'object':
                return value === null ? null : plainObject(value, path, above);
            case 'undefined':
                return refuse(path, 'it is undefined; use null');
            default:
                return refuse(path, `it is a ${typeof value}`);
        }
    }

    function plainObject(value, path, above) {
        if (above.includes(value)) {
            refuse(path, 'it contains itself');
        }
        if (above.length >= DEEPEST) {
            refuse(path, `it is nested more than ${DEEPEST} deep`);
        }
        if (value instanceof Date && Number.isNaN(value.getTime())) {
            refuse(path, 'it is an invalid Date');
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
            const name = value.constructor?.name || 'object with a prototype';
            refuse(path, `it is a ${name}; only plain objects and arrays can be stored`);
        }
        const [symbol] = Object.getOwnPropertySymbols(value);
        if (symbol !== undefined) {
            refuse(path, `its key ${String(symbol)} is not a string`);
        }
        const copy = {};
        for (const [key, each] of Object.entries(value)) {
            const kept = plain(each, place(path, key), inside);
            // Safe for a key named __proto__.
            Object.defineProperty(copy, key, { value: kept, writable: true, enumerable: true, configurable: true });
        }
        return copy;
    }

    ours.plain = (value, name) => plain(value, name, []);

    // The kind of a value; null fits every kind.
    ours.kindOf = function (value) {
        if (value === null) {
            return null;
        }
        return Array.isArray(value) ? 'array' : typeof value;
    };
})(__osm);
