// Flags of a script's arguments: -name value, --name=value, -switch, and -- to end them.
'use strict';

const KINDS = {
    string: (text) => text,
    int: (text, name) => number(text, name, /^[-+]?\d+$/),
    float64: (text, name) => number(text, name, /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i),
    bool: (text, name) => {
        if (/^(1|t|true)$/i.test(text)) {
            return true;
        }
        if (/^(0|f|false)$/i.test(text)) {
            return false;
        }
        throw new Error(`invalid value ${JSON.stringify(text)} for flag -${name}`);
    },
};

function number(text, name, shape) {
    if (!shape.test(text)) {
        throw new Error(`invalid value ${JSON.stringify(text)} for flag -${name}`);
    }
    return Number(text);
}

exports.newFlagSet = function (title) {
    const flags = new Map();
    let rest = [];

    const define = (kind) => (name, value, usage) => {
        if (flags.has(name)) {
            throw new Error(`flag -${name} is defined twice`);
        }
        flags.set(name, { name, kind, usage: usage ?? '', defValue: value, value, isSet: false });
    };
    const need = (name) => {
        const flag = flags.get(name);
        if (flag === undefined) {
            throw new Error(`flag provided but not defined: -${name}`);
        }
        return flag;
    };

    function parse(given) {
        const words = [...given];
        rest = [];
        while (words.length > 0) {
            const word = words[0];
            if (word === '--') {
                words.shift();
                break;
            }
            const found = /^--?([^=-][^=]*)(?:=([\s\S]*))?$/.exec(word);
            if (found === null) {
                break;
            }
            words.shift();
            const [, name, attached] = found;
            const flag = need(name);
            let text = attached;
            if (text === undefined && flag.kind === 'bool') {
                text = 'true';
            } else if (text === undefined) {
                if (words.length === 0) {
                    throw new Error(`flag needs an argument: -${name}`);
                }
                text = words.shift();
            }
            flag.value = KINDS[flag.kind](text, name);
            flag.isSet = true;
        }
        rest = words;
        return null;
    }

    const sorted = () => [...flags.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    return Object.freeze({
        name: title,
        string: define('string'),
        int: define('int'),
        bool: define('bool'),
        float64: define('float64'),
        parse,
        get: (name) => need(name).value,
        args: () => [...rest],
        nArg: () => rest.length,
        nFlag: () => sorted().filter((flag) => flag.isSet).length,
        lookup: (name) => {
            const flag = flags.get(name);
            return flag === undefined ? null : { ...flag };
        },
        defaults: () => sorted().map((flag) => `  -${flag.name}\t${flag.usage} (default ${flag.defValue})`).join('\n'),
        visit: (each) => sorted().filter((flag) => flag.isSet).forEach((flag) => each({ ...flag })),
        visitAll: (each) => sorted().forEach((flag) => each({ ...flag })),
    });
};
