// Hosts of URLs: domains, addresses, and opaque names. Each is a text as it stands in a URL, or null if it
// is not valid.
'use strict';
const { SETS, decode, encode } = require('osm:web/percent');

const FORBIDDEN = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_IN_DOMAIN = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;

exports.parse = function (text, isOpaque) {
    if (text.startsWith('[')) {
        const pieces = text.endsWith(']') ? address6(text.slice(1, -1)) : null;
        return pieces === null ? null : `[${shown6(pieces)}]`;
    }
    if (isOpaque) {
        return FORBIDDEN.test(text) ? null : encode(text, SETS.control);
    }
    const domain = toAscii(decode(text));
    if (domain === '' || FORBIDDEN_IN_DOMAIN.test(domain)) {
        return null;
    }
    return endsInNumber(domain) ? address4(domain) : domain;
};

// International names are lower case, in form NFKC and in Punycode. The tables of UTS #46 are not used.
function toAscii(domain) {
    if (!/[^\0-\x7f]/.test(domain)) {
        return domain.toLowerCase();
    }
    const mapped = domain.replace(/[\u00ad\u200b\u2060\ufeff]/g, '').toLowerCase().normalize('NFKC').toLowerCase();
    const labels = mapped.replaceAll('\u3002', '.').split('.');
    return labels.map((label) => (/[^\0-\x7f]/.test(label) ? `xn--${punycode(label)}` : label)).join('.');
}

// RFC 3492.
function punycode(label) {
    const codes = Array.from(label, (character) => character.codePointAt(0));
    let text = codes.filter((code) => code < 0x80).map((code) => String.fromCharCode(code)).join('');
    const basic = text.length;
    text += basic > 0 ? '-' : '';
    let [next, delta, bias, done] = [0x80, 0, 72, basic];
    while (done < codes.length) {
        const least = Math.min(...codes.filter((code) => code >= next));
        delta += (least - next) * (done + 1);
        next = least;
        for (const code of codes) {
            delta += code < next ? 1 : 0;
            if (code === next) {
                text += variable(delta, bias);
                bias = adapted(delta, done + 1, done === basic);
                delta = 0;
                done += 1;
            }
        }
        delta += 1;
        next += 1;
    }
    return text;
}

const digit = (value) => 'abcdefghijklmnopqrstuvwxyz0123456789'[value];

function variable(delta, bias) {
    let [rest, text] = [delta, ''];
    for (let at = 36; ; at += 36) {
        const least = Math.min(26, Math.max(1, at - bias));
        if (rest < least) {
            return text + digit(rest);
        }
        text += digit(least + ((rest - least) % (36 - least)));
        rest = Math.floor((rest - least) / (36 - least));
    }
}

function adapted(delta, count, isFirst) {
    let rest = Math.floor(delta / (isFirst ? 700 : 2));
    rest += Math.floor(rest / count);
    let steps = 0;
    for (; rest > 455; steps += 36) {
        rest = Math.floor(rest / 35);
    }
    return steps + Math.floor((36 * rest) / (rest + 38));
}

// A number of an address: decimal, 0x… or 0…; NaN for another text.
function number(text) {
    if (/^0x[\da-f]*$/i.test(text)) {
        return text.length === 2 ? 0 : Number.parseInt(text, 16);
    }
    if (/^0[0-7]+$/.test(text)) {
        return Number.parseInt(text, 8);
    }
    return /^(0|[1-9]\d*)$/.test(text) ? Number(text) : NaN;
}

function endsInNumber(domain) {
    const last = domain.replace(/\.$/, '').split('.').at(-1);
    return /^\d+$/.test(last) || !Number.isNaN(number(last));
}

function address4(domain) {
    const numbers = domain.replace(/\.$/, '').split('.').map(number);
    const last = numbers.pop();
    if (numbers.length > 3 || [...numbers, last].some(Number.isNaN) || numbers.some((it) => it > 255)) {
        return null;
    }
    if (last >= 256 ** (4 - numbers.length)) {
        return null;
    }
    const rest = [];
    for (let [left, at] = [last, 4 - numbers.length]; at > 0; at -= 1) {
        rest.unshift(left % 256);
        left = Math.floor(left / 256);
    }
    return [...numbers, ...rest].join('.');
}

// The eight pieces of an address, or null.
function address6(text) {
    const halves = text.split('::');
    if (halves.length > 2) {
        return null;
    }
    const parsed = halves.map((half, at) => pieces6(half, at === halves.length - 1));
    if (parsed.includes(null)) {
        return null;
    }
    const [before, after] = parsed;
    if (after === undefined) {
        return before.length === 8 ? before : null;
    }
    const missing = 8 - before.length - after.length;
    return missing > 0 ? [...before, ...new Array(missing).fill(0), ...after] : null;
}

// The pieces between colons; at the end, four decimal numbers are two of them.
function pieces6(text, isEnd) {
    if (text === '') {
        return [];
    }
    const parts = text.split(':');
    const ends = isEnd && parts.at(-1).includes('.') ? parts.pop() : null;
    if (!parts.every((part) => /^[\da-f]{1,4}$/i.test(part))) {
        return null;
    }
    const pieces = parts.map((part) => Number.parseInt(part, 16));
    if (ends !== null) {
        const bytes = ends.split('.');
        if (bytes.length !== 4 || !bytes.every((byte) => /^(0|[1-9]\d{0,2})$/.test(byte) && byte <= 255)) {
            return null;
        }
        pieces.push(bytes[0] * 256 + Number(bytes[1]), bytes[2] * 256 + Number(bytes[3]));
    }
    return pieces.length <= 8 ? pieces : null;
}

// The longest run of zeros, the first of several, is `::`.
function shown6(pieces) {
    let best = { at: -1, length: 1 };
    for (let at = 0; at < 8; at += 1) {
        let length = 0;
        while (pieces[at + length] === 0) {
            length += 1;
        }
        best = length > best.length ? { at, length } : best;
    }
    const hex = pieces.map((piece) => piece.toString(16));
    if (best.at < 0) {
        return hex.join(':');
    }
    return `${hex.slice(0, best.at).join(':')}::${hex.slice(best.at + best.length).join(':')}`;
}
