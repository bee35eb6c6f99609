// The parser of the URL standard: a state for each part of a URL, as a function of the parser and the
// character at its place, which is undefined at the end.
'use strict';
const hosts = require('osm:web/host');
const { SETS, encode } = require('osm:web/percent');

// The schemes with an authority and a path, and their ports.
const PORTS = { 'ftp': 21, 'file': null, 'http': 80, 'https': 443, 'ws': 80, 'wss': 443 };

const FAILED = Symbol('not a URL');
const DONE = Symbol('the part is set');

const isSpecial = (url) => Object.hasOwn(PORTS, url.scheme);
const isOpaque = (url) => typeof url.path === 'string';
const hasCredentials = (url) => url.username !== '' || url.password !== '';
const isDrive = (text) => /^[a-z][:|]$/i.test(text);
const isSingleDot = (text) => /^(\.|%2e)$/i.test(text);
const isDoubleDot = (text) => /^(\.|%2e){2}$/i.test(text);
const isSlash = (p, c) => c === '/' || (isSpecial(p.url) && c === '\\');
const endsAuthority = (p, c) => c === undefined || c === '?' || c === '#' || isSlash(p, c);

function shorten(url) {
    const keepsDrive = url.scheme === 'file' && url.path.length === 1 && /^[a-z]:$/i.test(url.path[0]);
    if (!keepsDrive) {
        url.path.pop();
    }
}

function take(url, base, parts) {
    for (const part of parts) {
        url[part] = Array.isArray(base[part]) ? [...base[part]] : base[part];
    }
}
const AUTHORITY = ['username', 'password', 'host', 'port'];

// Goes on in another state, with this character or with the next one.
function goOn(p, state) {
    p.state = state;
    p.at -= 1;
}
function next(p, state) {
    p.state = state;
}

// Begins the query or the fragment, if the character does.
function beginsEnd(p, c) {
    if (c === '?') {
        p.url.query = '';
        next(p, 'query');
    } else if (c === '#') {
        p.url.fragment = '';
        next(p, 'fragment');
    }
    return c === '?' || c === '#';
}

// Sets the host from the buffer.
function setHost(p) {
    const host = hosts.parse(p.buffer, !isSpecial(p.url));
    if (host !== null) {
        [p.url.host, p.buffer] = [host, ''];
    }
    return host !== null;
}

// Whether a drive letter of Windows begins here.
function startsWithDrive(p) {
    const [, , after] = p.input.slice(p.at, p.at + 3);
    return isDrive(p.input.slice(p.at, p.at + 2).join('')) && (after === undefined || /[/\\?#]/.test(after));
}

const STATES = {
    schemeStart(p, c) {
        if (/^[a-z]$/i.test(c ?? '')) {
            p.buffer = c.toLowerCase();
            return next(p, 'scheme');
        }
        return p.override ? FAILED : goOn(p, 'noScheme');
    },

    scheme(p, c) {
        const { url, base } = p;
        if (/^[a-z\d+.-]$/i.test(c ?? '')) {
            p.buffer += c.toLowerCase();
            return undefined;
        }
        if (c !== ':') {
            [p.buffer, p.at] = ['', p.override ? p.at : -1];
            return p.override ? FAILED : next(p, 'noScheme');
        }
        if (p.override) {
            const becomesSpecial = Object.hasOwn(PORTS, p.buffer);
            const cannotBeFile = p.buffer === 'file' && (hasCredentials(url) || url.port !== null);
            if (isSpecial(url) !== becomesSpecial || cannotBeFile || (url.scheme === 'file' && url.host === '')) {
                return DONE;
            }
            url.scheme = p.buffer;
            url.port = url.port === PORTS[url.scheme] ? null : url.port;
            return DONE;
        }
        [url.scheme, p.buffer] = [p.buffer, ''];
        if (url.scheme === 'file') {
            return next(p, 'file');
        }
        if (isSpecial(url)) {
            return next(p, base?.scheme === url.scheme ? 'specialRelativeOrAuthority' : 'specialAuthoritySlashes');
        }
        if (p.input[p.at + 1] === '/') {
            p.at += 1;
            return next(p, 'pathOrAuthority');
        }
        url.path = '';
        return next(p, 'opaquePath');
    },

    noScheme(p, c) {
        const { url, base } = p;
        if (base === null || (isOpaque(base) && c !== '#')) {
            return FAILED;
        }
        if (isOpaque(base)) {
            take(url, base, ['scheme', 'path', 'query']);
            beginsEnd(p, c);
            return undefined;
        }
        return goOn(p, base.scheme === 'file' ? 'file' : 'relative');
    },

    specialRelativeOrAuthority(p, c) {
        if (c !== '/' || p.input[p.at + 1] !== '/') {
            return goOn(p, 'relative');
        }
        p.at += 1;
        return next(p, 'specialAuthorityIgnoreSlashes');
    },

    pathOrAuthority: (p, c) => (c === '/' ? next(p, 'authority') : goOn(p, 'path')),

    relative(p, c) {
        const { url, base } = p;
        url.scheme = base.scheme;
        if (isSlash(p, c)) {
            return next(p, 'relativeSlash');
        }
        take(url, base, [...AUTHORITY, 'path', 'query']);
        if (beginsEnd(p, c) || c === undefined) {
            return undefined;
        }
        url.query = null;
        shorten(url);
        return goOn(p, 'path');
    },

    relativeSlash(p, c) {
        if (isSlash(p, c)) {
            return next(p, isSpecial(p.url) ? 'specialAuthorityIgnoreSlashes' : 'authority');
        }
        take(p.url, p.base, AUTHORITY);
        return goOn(p, 'path');
    },

    specialAuthoritySlashes(p, c) {
        if (c !== '/' || p.input[p.at + 1] !== '/') {
            return goOn(p, 'specialAuthorityIgnoreSlashes');
        }
        p.at += 1;
        return next(p, 'specialAuthorityIgnoreSlashes');
    },

    specialAuthorityIgnoreSlashes: (p, c) => (c === '/' || c === '\\' ? undefined : goOn(p, 'authority')),

    authority(p, c) {
        if (c === '@') {
            const credentials = p.hasAt ? `%40${p.buffer}` : p.buffer;
            const colon = p.hasPassword ? 0 : credentials.indexOf(':');
            const name = colon < 0 ? credentials : credentials.slice(0, colon);
            p.url.username += encode(name, SETS.userinfo);
            if (colon >= 0) {
                p.url.password += encode(credentials.slice(p.hasPassword ? 0 : colon + 1), SETS.userinfo);
            }
            [p.hasAt, p.hasPassword, p.buffer] = [true, colon >= 0, ''];
        } else if (endsAuthority(p, c)) {
            if (p.hasAt && p.buffer === '') {
                return FAILED;
            }
            p.at -= [...p.buffer].length + 1;
            p.buffer = '';
            next(p, 'host');
        } else {
            p.buffer += c;
        }
        return undefined;
    },

    host(p, c) {
        const { url } = p;
        if (p.override && url.scheme === 'file') {
            return goOn(p, 'fileHost');
        }
        if (c === ':' && !p.isInBrackets) {
            if (p.buffer === '' || p.override === 'hostname' || !setHost(p)) {
                return FAILED;
            }
            return next(p, 'port');
        }
        if (!endsAuthority(p, c)) {
            p.isInBrackets = c === '[' || (p.isInBrackets && c !== ']');
            p.buffer += c;
            return undefined;
        }
        const isEmpty = p.buffer === '';
        if (isEmpty && (isSpecial(url) || (p.override && (hasCredentials(url) || url.port !== null)))) {
            return FAILED;
        }
        if (!setHost(p)) {
            return FAILED;
        }
        goOn(p, 'pathStart');
        return p.override ? DONE : undefined;
    },

    port(p, c) {
        if (/^\d$/.test(c ?? '')) {
            p.buffer += c;
            return undefined;
        }
        if (!endsAuthority(p, c) && !p.override) {
            return FAILED;
        }
        if (p.buffer !== '') {
            const port = Number(p.buffer);
            if (port > 65535) {
                return FAILED;
            }
            [p.url.port, p.buffer] = [port === PORTS[p.url.scheme] ? null : port, ''];
            if (p.override) {
                return DONE;
            }
        }
        return p.override ? FAILED : goOn(p, 'pathStart');
    },

    file(p, c) {
        const { url, base } = p;
        [url.scheme, url.host] = ['file', ''];
        if (c === '/' || c === '\\') {
            return next(p, 'fileSlash');
        }
        if (base?.scheme !== 'file') {
            return goOn(p, 'path');
        }
        take(url, base, ['host', 'path', 'query']);
        if (beginsEnd(p, c) || c === undefined) {
            return undefined;
        }
        url.query = null;
        if (startsWithDrive(p)) {
            url.path = [];
        } else {
            shorten(url);
        }
        return goOn(p, 'path');
    },

    fileSlash(p, c) {
        const { url, base } = p;
        if (c === '/' || c === '\\') {
            return next(p, 'fileHost');
        }
        if (base?.scheme === 'file') {
            url.host = base.host;
            if (!startsWithDrive(p) && /^[a-z]:$/i.test(base.path[0] ?? '')) {
                url.path.push(base.path[0]);
            }
        }
        return goOn(p, 'path');
    },

    fileHost(p, c) {
        if (!endsAuthority(p, c)) {
            p.buffer += c;
            return undefined;
        }
        if (!p.override && isDrive(p.buffer)) {
            return goOn(p, 'path');
        }
        if (p.buffer === '') {
            p.url.host = '';
        } else if (!setHost(p)) {
            return FAILED;
        }
        p.url.host = p.url.host === 'localhost' ? '' : p.url.host;
        goOn(p, 'pathStart');
        return p.override ? DONE : undefined;
    },

    pathStart(p, c) {
        if (isSpecial(p.url)) {
            return isSlash(p, c) ? next(p, 'path') : goOn(p, 'path');
        }
        if (!p.override && beginsEnd(p, c)) {
            return undefined;
        }
        if (c !== undefined) {
            return c === '/' ? next(p, 'path') : goOn(p, 'path');
        }
        if (p.override && p.url.host === null) {
            p.url.path.push('');
        }
        return undefined;
    },

    path(p, c) {
        const { url } = p;
        const ends = c === undefined || (!p.override && (c === '?' || c === '#'));
        if (!ends && !isSlash(p, c)) {
            p.buffer += encode(c, SETS.path);
            return undefined;
        }
        if (isDoubleDot(p.buffer)) {
            shorten(url);
            if (ends) {
                url.path.push('');
            }
        } else if (!isSingleDot(p.buffer)) {
            const isFirstDrive = url.scheme === 'file' && url.path.length === 0 && isDrive(p.buffer);
            url.path.push(isFirstDrive ? `${p.buffer[0]}:` : p.buffer);
        } else if (ends) {
            url.path.push('');
        }
        p.buffer = '';
        beginsEnd(p, c);
        return undefined;
    },

    opaquePath(p, c) {
        if (beginsEnd(p, c) || c === undefined) {
            return undefined;
        }
        const isLastSpace = c === ' ' && /^[?#]$/.test(p.input[p.at + 1] ?? '');
        p.url.path += isLastSpace ? '%20' : encode(c, SETS.control);
        return undefined;
    },

    query(p, c) {
        if (c !== undefined && (p.override || c !== '#')) {
            p.buffer += c;
            return undefined;
        }
        p.url.query += encode(p.buffer, isSpecial(p.url) ? SETS.specialQuery : SETS.query);
        p.buffer = '';
        beginsEnd(p, c);
        return undefined;
    },

    fragment(p, c) {
        p.url.fragment += c === undefined ? '' : encode(c, SETS.fragment);
        return undefined;
    },
};

function run(p) {
    const characters = p.input;
    for (;;) {
        const outcome = STATES[p.state](p, characters[p.at]);
        if (outcome === FAILED || outcome === DONE) {
            return outcome;
        }
        if (p.at >= characters.length) {
            return DONE;
        }
        p.at += 1;
    }
}

function parser(text, url, base, state, override) {
    const input = [...text.replace(/[\t\n\r]/g, '')];
    const flags = { hasAt: false, hasPassword: false, isInBrackets: false };
    return { input, at: 0, url, base, state, override, buffer: '', ...flags };
}

// The parts of a URL, or null.
exports.parse = function (text, base = null) {
    const url = { scheme: '', username: '', password: '', host: null, port: null, path: [], query: null, fragment: null };
    const trimmed = text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '');
    return run(parser(trimmed, url, base, 'schemeStart', null)) === FAILED ? null : url;
};

// Changes a part of a URL from a state on. A text that does not fit changes nothing.
exports.change = function (url, text, state) {
    const changed = { ...url, path: isOpaque(url) ? url.path : [...url.path] };
    const start = state === 'hostname' ? 'host' : state;
    if (run(parser(text, changed, null, start, state)) === DONE) {
        Object.assign(url, changed);
    }
};

exports.shown = function (url) {
    let text = `${url.scheme}:`;
    if (url.host !== null) {
        const secret = url.password === '' ? '' : `:${url.password}`;
        text += `//${hasCredentials(url) ? `${url.username}${secret}@` : ''}${exports.hostOf(url)}`;
    } else if (!isOpaque(url) && url.path.length > 1 && url.path[0] === '') {
        text += '/.';
    }
    text += exports.pathOf(url);
    text += url.query === null ? '' : `?${url.query}`;
    return url.fragment === null ? text : `${text}#${url.fragment}`;
};
exports.hostOf = (url) => (url.host ?? '') + (url.port === null ? '' : `:${url.port}`);
exports.pathOf = (url) => (isOpaque(url) ? url.path : url.path.map((part) => `/${part}`).join(''));

Object.assign(exports, { isSpecial, isOpaque });
