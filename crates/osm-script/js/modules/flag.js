// Flags of a script's arguments, with the rules of Go's flag package: -name value, --name=value, -switch,
// and -- or the first other word to end them.
'use strict';

// Why a text is not a value; parse() reports it.
class Refused extends Error {}

function readInt(text) {
    const shape = /^([-+]?)(0x(?:_?[\da-f])+|0b(?:_?[01])+|0o?(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/i;
    const [, sign, digits] = shape.exec(text) ?? [];
    if (digits === undefined) {
        throw new Refused('parse error');
    }
    const size = BigInt(digits.replaceAll('_', '').replace(/^0o?(?=[0-7])/i, '0o'));
    const value = sign === '-' ? -size : size;
    if (BigInt.asIntN(64, value) !== value) {
        throw new Refused('value out of range');
    }
    return Number(value);
}

function readFloat(text) {
    if (/^([-+]?inf(inity)?|nan)$/i.test(text)) {
        return /^nan$/i.test(text) ? NaN : Number(`${text[0] === '-' ? '-' : ''}Infinity`);
    }
    if (!/^[-+]?(\d(_?\d)*\.?(\d(_?\d)*)?|\.\d(_?\d)*)(e[-+]?\d(_?\d)*)?$/i.test(text)) {
        throw new Refused('parse error');
    }
    const value = Number(text.replaceAll('_', ''));
    if (!Number.isFinite(value)) {
        throw new Refused('value out of range');
    }
    return value;
}

function readBool(text) {
    if (/^(1|t|T|true|TRUE|True)$/.test(text)) {
        return true;
    }
    if (/^(0|f|F|false|FALSE|False)$/.test(text)) {
        return false;
    }
    throw new Refused('parse error');
}

// The shortest text; with an exponent below 0.0001 and from a million.
function showFloat(value) {
    if (!Number.isFinite(value)) {
        return Number.isNaN(value) ? 'NaN' : `${value > 0 ? '+' : '-'}Inf`;
    }
    const [digits, exponent] = value.toExponential().split('e');
    const size = Math.abs(Number(exponent));
    const isPlain = value === 0 || (Number(exponent) >= -4 && Number(exponent) < 6);
    return isPlain ? String(value) : `${digits}e${exponent[0]}${String(size).padStart(2, '0')}`;
}

// For each kind: the default without one, how a default is taken, how a text is read, how a value is
// shown, and what defaults() calls the value.
const KINDS = {
    string: { zero: '', take: String, read: (text) => text, show: String, label: 'string' },
    int: { zero: 0, take: (value) => Math.trunc(Number(value)) || 0, read: readInt, show: String, label: 'int' },
    bool: { zero: false, take: Boolean, read: readBool, show: String, label: '' },
    float64: { zero: 0, take: Number, read: readFloat, show: showFloat, label: 'float' },
};

// How scripts see a flag.
const shown = ({ name, usage, kind, defValue, value }) => ({ name, usage, defValue, value: KINDS[kind].show(value) });

// The lines about a flag in defaults(). A word of the usage in backquotes names the value.
function described(flag) {
    const { label, zero, show } = KINDS[flag.kind];
    const [, before, word, after] = /^([^`]*)`([^`]*)`([\s\S]*)$/.exec(flag.usage) ?? [];
    const named = word ?? label;
    const usage = word === undefined ? flag.usage : before + word + after;
    const start = `  -${flag.name}${named === '' ? '' : ` ${named}`}`;
    const shownDefault = flag.kind === 'string' ? JSON.stringify(flag.defValue) : flag.defValue;
    const end = flag.defValue === show(zero) ? '' : ` (default ${shownDefault})`;
    return `${start}${start.length <= 4 ? '\t' : '\n    \t'}${usage.replaceAll('\n', '\n    \t')}${end}\n`;
}

exports.newFlagSet = function (title) {
    const flags = new Map();
    const given = new Set();
    let rest = [];

    const define = (kind) => (flagName, initial, usage) => {
        const name = String(flagName);
        const { zero, take, show } = KINDS[kind];
        if (name.startsWith('-') || name.includes('=')) {
            throw new Error(`flag ${JSON.stringify(name)} ${name.startsWith('-') ? 'begins with -' : 'contains ='}`);
        }
        if (flags.has(name)) {
            throw new Error(`${title === undefined || title === null || title === '' ? '' : `${title} `}flag redefined: ${name}`);
        }
        const value = initial === undefined ? zero : take(initial);
        flags.set(name, { name, kind, usage: usage === undefined ? '' : String(usage), defValue: show(value), value });
        return set;
    };

    // Takes one flag from the words that are left; false at the first word that is not a flag.
    function parseOne() {
        const [word] = rest;
        if (word === undefined || word.length < 2 || word[0] !== '-') {
            return false;
        }
        if (word === '--') {
            rest.shift();
            return false;
        }
        const [, name, attached] = /^--?([^-=][^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
        if (name === undefined) {
            throw new Refused(`bad flag syntax: ${word}`);
        }
        rest.shift();
        const flag = flags.get(name);
        if (flag === undefined) {
            throw new Refused(/^h(elp)?$/.test(name) ? 'flag: help requested' : `flag provided but not defined: -${name}`);
        }
        const isSwitch = flag.kind === 'bool';
        if (attached === undefined && !isSwitch && rest.length === 0) {
            throw new Refused(`flag needs an argument: -${name}`);
        }
        const text = attached ?? (isSwitch ? 'true' : rest.shift());
        try {
            flag.value = KINDS[flag.kind].read(text);
        } catch (error) {
            const about = isSwitch ? `boolean value ${JSON.stringify(text)} for` : `value ${JSON.stringify(text)} for flag`;
            throw new Refused(`invalid ${about} -${name}: ${error.message}`);
        }
        given.add(name);
        return true;
    }

    function parse(words) {
        if (!Array.isArray(words)) {
            throw new TypeError('parse: argument 1 must be an array of strings');
        }
        rest = words.map(String);
        try {
            while (parseOne());
        } catch (error) {
            if (error instanceof Refused) {
                return { error: error.message };
            }
            throw error;
        }
        return { error: null };
    }

    const sorted = () => [...flags.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    const visitor = (name, choose) => (each) => {
        if (typeof each !== 'function') {
            throw new TypeError(`${name}: argument 1 must be a function`);
        }
        sorted().filter(choose).forEach((flag) => each(shown(flag)));
    };
    const set = Object.freeze({
        string: define('string'),
        int: define('int'),
        bool: define('bool'),
        float64: define('float64'),
        parse,
        get: (name) => flags.get(String(name))?.value,
        args: () => [...rest],
        nArg: () => rest.length,
        nFlag: () => given.size,
        lookup: (name) => (flags.has(String(name)) ? shown(flags.get(String(name))) : null),
        defaults: () => sorted().map(described).join(''),
        visit: visitor('visit', (flag) => given.has(flag.name)),
        visitAll: visitor('visitAll', () => true),
    });
    return set;
};
