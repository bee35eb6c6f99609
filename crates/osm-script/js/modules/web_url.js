// URL.
'use strict';
const { SETS, encode } = require('osm:web/percent');
const search = require('osm:web/search');
const { change, hostOf, isOpaque, isSpecial, parse, pathOf, shown } = require('osm:web/url/parser');

const wellFormed = (value) => String(value).toWellFormed();
const cannotHaveCredentials = (url) => url.host === null || url.host === '' || url.scheme === 'file';

// The parts of a URL, relative to another one if that is given; null if they are not valid.
function parts(text, base) {
    const start = base === undefined ? null : parse(wellFormed(base));
    return base !== undefined && start === null ? null : parse(wellFormed(text), start);
}

class URL {
    #url;
    #search;

    constructor(...given) {
        if (given.length === 0) {
            throw new TypeError('URL: argument 1 is missing');
        }
        const [text, base] = given;
        const url = parts(text, base);
        if (url === null) {
            const about = base === undefined ? '' : ` with base ${__osm.quoted(String(base))}`;
            throw new TypeError(`invalid URL ${__osm.quoted(String(text))}${about}`);
        }
        this.#url = url;
        this.#search = search.ofUrl(url.query ?? '', (query) => {
            this.#url.query = query === '' ? null : query;
        });
    }

    static canParse(...given) {
        return parts(...given) !== null;
    }

    static parse(...given) {
        return parts(...given) === null ? null : new URL(...given);
    }

    get href() {
        return shown(this.#url);
    }

    set href(value) {
        const url = parse(wellFormed(value));
        if (url === null) {
            throw new TypeError(`invalid URL ${__osm.quoted(String(value))}`);
        }
        this.#url = url;
        search.replace(this.#search, url.query ?? '');
    }

    get origin() {
        const url = this.#url;
        if (url.scheme === 'blob') {
            const inner = parse(pathOf(url));
            return inner !== null && /^https?$/.test(inner.scheme) ? `${inner.scheme}://${hostOf(inner)}` : 'null';
        }
        return isSpecial(url) && url.scheme !== 'file' ? `${url.scheme}://${hostOf(url)}` : 'null';
    }

    get protocol() {
        return `${this.#url.scheme}:`;
    }

    set protocol(value) {
        change(this.#url, `${wellFormed(value)}:`, 'schemeStart');
    }

    get username() {
        return this.#url.username;
    }

    set username(value) {
        if (!cannotHaveCredentials(this.#url)) {
            this.#url.username = encode(wellFormed(value), SETS.userinfo);
        }
    }

    get password() {
        return this.#url.password;
    }

    set password(value) {
        if (!cannotHaveCredentials(this.#url)) {
            this.#url.password = encode(wellFormed(value), SETS.userinfo);
        }
    }

    get host() {
        return hostOf(this.#url);
    }

    set host(value) {
        if (!isOpaque(this.#url)) {
            change(this.#url, wellFormed(value), 'host');
        }
    }

    get hostname() {
        return this.#url.host ?? '';
    }

    set hostname(value) {
        if (!isOpaque(this.#url)) {
            change(this.#url, wellFormed(value), 'hostname');
        }
    }

    get port() {
        return String(this.#url.port ?? '');
    }

    set port(value) {
        const text = wellFormed(value);
        if (cannotHaveCredentials(this.#url)) {
            return;
        }
        if (text === '') {
            this.#url.port = null;
        } else {
            change(this.#url, text, 'port');
        }
    }

    get pathname() {
        return pathOf(this.#url);
    }

    set pathname(value) {
        if (!isOpaque(this.#url)) {
            this.#url.path = [];
            change(this.#url, wellFormed(value), 'pathStart');
        }
    }

    get search() {
        return this.#url.query === null || this.#url.query === '' ? '' : `?${this.#url.query}`;
    }

    set search(value) {
        const text = wellFormed(value).replace(/^\?/, '');
        this.#url.query = wellFormed(value) === '' ? null : '';
        if (this.#url.query !== null) {
            change(this.#url, text, 'query');
        }
        search.replace(this.#search, this.#url.query ?? '');
    }

    get searchParams() {
        return this.#search;
    }

    get hash() {
        return this.#url.fragment === null || this.#url.fragment === '' ? '' : `#${this.#url.fragment}`;
    }

    set hash(value) {
        const text = wellFormed(value).replace(/^#/, '');
        this.#url.fragment = wellFormed(value) === '' ? null : '';
        if (this.#url.fragment !== null) {
            change(this.#url, text, 'fragment');
        }
    }

    toString() {
        return this.href;
    }

    toJSON() {
        return this.href;
    }

    get [Symbol.toStringTag]() {
        return 'URL';
    }
}

exports.URL = URL;
