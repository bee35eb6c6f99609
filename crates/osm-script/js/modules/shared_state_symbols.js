// Symbols that name state which commands share.
'use strict';
const PREFIX = 'osm:shared/';
const known = new Map();

// The symbol for a shared key: the same one for everybody who names it.
function define(name) {
    if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_.-]*$/.test(name)) {
        throw new TypeError('the name of a shared key is letters, digits, dots, dashes and underscores');
    }
    if (!known.has(name)) {
        known.set(name, Symbol(PREFIX + name));
    }
    return known.get(name);
}

exports.contextItems = define('contextItems');
exports.define = define;
