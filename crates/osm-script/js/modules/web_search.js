// URLSearchParams: the names and values of a query.
'use strict';
const { SETS, decode, encode } = require('osm:web/percent');

const wellFormed = (value) => String(value).toWellFormed();
const written = (text) => encode(text, (each) => each !== ' ' && SETS.form(each)).replaceAll(' ', '+');
const read = (text) => decode(text.replaceAll('+', ' '));

function parsed(query) {
    return query
        .split('&')
        .filter((part) => part !== '')
        .map((part) => {
            const [, name, value] = /^([^=]*)=?([\s\S]*)$/.exec(part);
            return [read(name), read(value)];
        });
}

// The pairs that a constructor was given.
function pairs(init) {
    if (init === undefined || typeof init === 'string') {
        return parsed(wellFormed(init ?? '').replace(/^\?/, ''));
    }
    if ((typeof init !== 'object' && typeof init !== 'function') || init === null) {
        return parsed(wellFormed(init).replace(/^\?/, ''));
    }
    if (init[Symbol.iterator] === undefined || init[Symbol.iterator] === null) {
        return Object.entries(init).map((pair) => pair.map(wellFormed));
    }
    return Array.from(init, (each) => {
        const pair = [...each];
        if (pair.length !== 2) {
            throw new TypeError('URLSearchParams: argument 1 must contain pairs of a name and a value');
        }
        return pair.map(wellFormed);
    });
}

function need(name, given, count) {
    if (given.length < count) {
        throw new TypeError(`${name}: argument ${given.length + 1} is missing`);
    }
    return given.map(wellFormed);
}

class URLSearchParams {
    #list;
    // Tells the URL of a change.
    #changed = () => {};

    constructor(init) {
        this.#list = pairs(init);
    }

    // For the URL that the query belongs to.
    static {
        exports.ofUrl = (query, changed) => {
            const search = new URLSearchParams();
            search.#list = parsed(query);
            search.#changed = changed;
            return search;
        };
        exports.replace = (search, query) => {
            search.#list = parsed(query);
        };
    }

    get size() {
        return this.#list.length;
    }

    append(...given) {
        const [name, value] = need('append', given, 2);
        this.#list.push([name, value]);
        this.#changed(this.toString());
    }

    delete(...given) {
        const [name, value] = given[1] === undefined ? need('delete', given.slice(0, 1), 1) : need('delete', given, 2);
        this.#list = this.#list.filter((pair) => pair[0] !== name || (value !== undefined && pair[1] !== value));
        this.#changed(this.toString());
    }

    get(...given) {
        const [name] = need('get', given, 1);
        return this.#list.find((pair) => pair[0] === name)?.[1] ?? null;
    }

    getAll(...given) {
        const [name] = need('getAll', given, 1);
        return this.#list.filter((pair) => pair[0] === name).map((pair) => pair[1]);
    }

    has(...given) {
        const [name, value] = given[1] === undefined ? need('has', given.slice(0, 1), 1) : need('has', given, 2);
        return this.#list.some((pair) => pair[0] === name && (value === undefined || pair[1] === value));
    }

    set(...given) {
        const [name, value] = need('set', given, 2);
        const first = this.#list.find((pair) => pair[0] === name);
        if (first === undefined) {
            this.#list.push([name, value]);
        } else {
            first[1] = value;
            this.#list = this.#list.filter((pair) => pair === first || pair[0] !== name);
        }
        this.#changed(this.toString());
    }

    // By name, in the order of UTF-16; pairs with one name keep their order.
    sort() {
        this.#list.sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
        this.#changed(this.toString());
    }

    forEach(each, self) {
        if (typeof each !== 'function') {
            throw new TypeError('forEach: argument 1 must be a function');
        }
        for (const [name, value] of this) {
            each.call(self, value, name, this);
        }
    }

    *entries() {
        for (let at = 0; at < this.#list.length; at += 1) {
            yield [...this.#list[at]];
        }
    }

    *keys() {
        for (const [name] of this.entries()) {
            yield name;
        }
    }

    *values() {
        for (const [, value] of this.entries()) {
            yield value;
        }
    }

    [Symbol.iterator]() {
        return this.entries();
    }

    toString() {
        return this.#list.map((pair) => pair.map(written).join('=')).join('&');
    }

    get [Symbol.toStringTag]() {
        return 'URLSearchParams';
    }
}

exports.URLSearchParams = URLSearchParams;
