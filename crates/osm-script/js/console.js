// output, log and console: results, messages and the log.
'use strict';
(function (ours) {
    const say = (name, ...args) => void ours.invoke('osm:output', name, args);

    // A value as readable text.
    function shown(value) {
        if (typeof value === 'string') {
            return value;
        }
        if (value instanceof Error) {
            return `${value.name}: ${value.message}`;
        }
        if (typeof value === 'object' && value !== null) {
            try {
                return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
            } catch {
                return Object.prototype.toString.call(value);
            }
        }
        return typeof value === 'bigint' ? `${value}n` : String(value);
    }

    // The verbs that scripts use: %s %d %i %f %v %q %j %o %x %t, widths and precisions, and %%.
    function format(pattern, ...values) {
        let next = 0;
        const text = String(pattern).replace(
            /%([-+0 #]*)(\d*)(?:\.(\d+))?([sdifvqjoxt%])/g,
            (whole, flags, width, precision, verb) => {
                if (verb === '%') {
                    return '%';
                }
                if (next >= values.length) {
                    return whole;
                }
                const value = values[next];
                next += 1;
                let part = verbed(verb, value, precision);
                const wide = Number(width || 0);
                if (flags.includes('-')) {
                    part = part.padEnd(wide);
                } else {
                    part = part.padStart(wide, flags.includes('0') && verb !== 's' ? '0' : ' ');
                }
                return part;
            },
        );
        return [text, ...values.slice(next).map(shown)].join(' ');
    }

    function verbed(verb, value, precision) {
        switch (verb) {
            case 'd':
            case 'i':
                return String(Math.trunc(Number(value)));
            case 'f':
                return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
            case 'x':
                return Math.trunc(Number(value)).toString(16);
            case 'q':
                return JSON.stringify(String(value));
            case 'j':
            case 'o':
                return JSON.stringify(value);
            case 's':
                return precision === undefined ? shown(value) : shown(value).slice(0, Number(precision));
            default:
                return shown(value);
        }
    }

    globalThis.output = Object.freeze({
        print: (...values) => say('print', values.map(shown).join(' ')),
        printf: (pattern, ...values) => say('print', format(pattern, ...values)),
        // Messages for the user, on standard error.
        tell: (...values) => say('tell', values.map(shown).join(' ')),
        toClipboard: (text) => void ours.invoke('osm:os', 'clipboardCopy', [String(text)]),
        fromClipboard: () => ours.invoke('osm:os', 'clipboardPaste', []),
    });

    // The last messages, for getLogs and searchLogs.
    const kept = [];
    const MOST = 1000;
    function record(level, message, attrs) {
        const text = shown(message);
        kept.push({ time: new Date().toISOString(), level, message: text, attrs: attrs ?? {} });
        kept.splice(0, Math.max(0, kept.length - MOST));
        say('log', level, text, attrs ?? {});
    }
    globalThis.log = Object.freeze({
        debug: (message, attrs) => record('debug', message, attrs),
        info: (message, attrs) => record('info', message, attrs),
        warn: (message, attrs) => record('warn', message, attrs),
        error: (message, attrs) => record('error', message, attrs),
        printf: (pattern, ...values) => record('info', format(pattern, ...values)),
        getLogs: (count) => kept.slice(count === undefined ? 0 : -count),
        searchLogs: (text) => {
            const wanted = String(text).toLowerCase();
            return kept.filter((each) => each.message.toLowerCase().includes(wanted));
        },
        clearLogs: () => void kept.splice(0),
    });

    const tell = (name) => (...values) => say(name, format(values.length === 0 ? '' : shown(values[0]), ...values.slice(1)));
    globalThis.console = Object.freeze({
        log: tell('print'),
        info: tell('print'),
        debug: (...values) => record('debug', values.map(shown).join(' ')),
        warn: tell('printError'),
        error: tell('printError'),
    });

    ours.shown = shown;
    ours.format = format;
})(__osm);
