// structuredClone, without recursion: a value may be nested deeper than the stack allows.
'use strict';

const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const VIEWS = new Map(
    ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'BigInt64', 'BigUint64', 'Float16', 'Float32', 'Float64']
        .map((kind) => globalThis[`${kind}Array`])
        .concat(DataView)
        .filter((view) => view !== undefined)
        .map((view) => [view.name, view]),
);

// Objects with a state that is not in their properties.
const REFUSED = new Set([
    'AbortController', 'AbortSignal', 'AsyncGenerator', 'Event', 'FinalizationRegistry', 'Generator', 'Promise',
    'SharedArrayBuffer', 'Symbol', 'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'WeakMap', 'WeakRef', 'WeakSet',
]);

function refuse(what) {
    throw new DOMException(`${what} cannot be cloned`, 'DataCloneError');
}

function put(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

// The copy of an error: its name, if it is one of the language, its message, stack and cause.
function errorLike(error, copyOf) {
    const name = String(error.name);
    const copy = new (Object.hasOwn(ERRORS, name) ? ERRORS[name] : Error)();
    const hide = (key, value) => Object.defineProperty(copy, key, { value, writable: true, enumerable: false, configurable: true });
    const message = Object.getOwnPropertyDescriptor(error, 'message');
    if (message !== undefined && 'value' in message) {
        hide('message', String(message.value));
    }
    hide('stack', String(error.stack));
    return [copy, () => Object.hasOwn(error, 'cause') && hide('cause', copyOf(error.cause))];
}

function bufferLike(buffer, moved) {
    if (buffer.detached) {
        refuse('a detached ArrayBuffer');
    }
    if (moved.has(buffer)) {
        return buffer.transfer();
    }
    const copy = buffer.resizable
        ? new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength })
        : new ArrayBuffer(buffer.byteLength);
    new Uint8Array(copy).set(new Uint8Array(buffer));
    return copy;
}

function viewLike(view, copyOf) {
    const buffer = copyOf(view.buffer);
    return new (VIEWS.get(tagOf(view)))(buffer, view.byteOffset, view.length ?? view.byteLength);
}

// Copies the entries of an array or an object. Dense arrays grow by push, which keeps them compact.
function fill(copy, value, copyOf) {
    let at = 0;
    if (Array.isArray(copy)) {
        for (; at < value.length && Object.hasOwn(value, at); at += 1) {
            copy.push(copyOf(value[at]));
        }
    }
    for (const key of Object.keys(value).slice(at)) {
        if (Object.hasOwn(value, key)) {
            put(copy, key, copyOf(value[key]));
        }
    }
    if (Array.isArray(copy)) {
        copy.length = Math.max(copy.length, value.length);
    }
}

// The copy of an object, and a function that fills it later, if it has contents.
function start(value, copyOf, moved) {
    if (Array.isArray(value)) {
        const copy = [];
        return [copy, () => fill(copy, value, copyOf)];
    }
    const tag = Object.getPrototypeOf(value) === Object.prototype ? 'Object' : tagOf(value);
    if (VIEWS.has(tag) && ArrayBuffer.isView(value)) {
        return [viewLike(value, copyOf)];
    }
    switch (tag) {
        case 'BigInt':
        case 'Boolean':
        case 'Number':
        case 'String':
            return [Object(value.valueOf())];
        case 'Date':
            return [new Date(Date.prototype.getTime.call(value))];
        case 'RegExp':
            return [new RegExp(value.source, value.flags)];
        case 'Error':
            return errorLike(value, copyOf);
        case 'DOMException':
            return [new DOMException(value.message, value.name)];
        case 'ArrayBuffer':
            return [bufferLike(value, moved)];
        case 'Map': {
            const [copy, entries] = [new Map(), [...Map.prototype.entries.call(value)]];
            return [copy, () => entries.forEach(([key, each]) => copy.set(copyOf(key), copyOf(each)))];
        }
        case 'Set': {
            const [copy, entries] = [new Set(), [...Set.prototype.values.call(value)]];
            return [copy, () => entries.forEach((each) => copy.add(copyOf(each)))];
        }
        default: {
            if (REFUSED.has(tag) || tag.endsWith('Iterator')) {
                refuse(`a value of type ${tag}`);
            }
            const copy = {};
            return [copy, () => fill(copy, value, copyOf)];
        }
    }
}

exports.structuredClone = function structuredClone(...given) {
    if (given.length === 0) {
        throw new TypeError('structuredClone: argument 1 is missing');
    }
    const moved = new Set(given[1]?.transfer ?? []);
    for (const each of moved) {
        if (tagOf(each) !== 'ArrayBuffer') {
            refuse('a value that is not an ArrayBuffer and is to be transferred');
        }
    }
    const copies = new Map();
    const unfilled = [];
    function copyOf(value) {
        if (typeof value === 'function' || typeof value === 'symbol') {
            refuse(`a ${typeof value}`);
        }
        if (typeof value !== 'object' || value === null) {
            return value;
        }
        if (!copies.has(value)) {
            const [copy, later] = start(value, copyOf, moved);
            copies.set(value, copy);
            if (later !== undefined) {
                unfilled.push(later);
            }
        }
        return copies.get(value);
    }
    const copy = copyOf(given[0]);
    while (unfilled.length > 0) {
        unfilled.pop()();
    }
    // A buffer that is nowhere in the value is moved, too.
    moved.forEach(copyOf);
    return copy;
};
