// Functions that the other files of the prelude use. `__osm` is internal.
'use strict';
(function (ours) {
    // Replaces lone surrogates, which JSON in UTF-8 cannot hold.
    const whole = (json) => (json.includes('\\ud') ? json.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : json);

    // Calls a function of Rust. Values cross as JSON.
    ours.invoke = function (module, name, args) {
        return JSON.parse(ours.native(module, name, whole(JSON.stringify(args))));
    };

    // A text on one line, with control and invisible characters escaped as osm-context's label.rs does.
    const UNSEEN = /[\p{Cc}\u00ad\u061c\u180e\ufeff\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
    const SHORT = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
    ours.oneLine = (value) =>
        String(value ?? '').replace(UNSEEN, (each) => SHORT[each] ?? `\\u{${each.codePointAt(0).toString(16)}}`);

    // A value of any kind, for a message.
    ours.quoted = function (value) {
        if (typeof value === 'string') {
            return `'${ours.oneLine(value)}'`;
        }
        return typeof value === 'symbol' ? String(value) : `${JSON.stringify(value) ?? typeof value}`;
    };

    // Throws the first unhandled rejection to the caller of the script.
    const rejected = new Map();
    ours.onRejection = function (promise, reason, handled) {
        if (handled) {
            rejected.delete(promise);
        } else {
            rejected.set(promise, reason);
        }
    };
    ours.takeRejection = function () {
        for (const reason of rejected.values()) {
            rejected.clear();
            throw reason;
        }
    };

    ours.forgetRejections = () => rejected.clear();

    globalThis.args = Object.freeze(ours.arguments.slice());
})(__osm);
