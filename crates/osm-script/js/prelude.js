// What the other files of the prelude stand on. `__osm` is ours; scripts have no use for it.
'use strict';
(function (ours) {
    // Half a character, as it comes of cutting a text in two, is no text: it is shown as such.
    const whole = (json) => (json.includes('\\ud') ? json.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : json);

    // Calls a function of Rust. Values cross as JSON.
    ours.invoke = function (module, name, args) {
        return JSON.parse(ours.native(module, name, whole(JSON.stringify(args))));
    };

    // A thing of any kind, for a message.
    ours.quoted = function (value) {
        if (typeof value === 'string') {
            return `'${value}'`;
        }
        return typeof value === 'symbol' ? String(value) : `${JSON.stringify(value) ?? typeof value}`;
    };

    // The first rejection that nobody took care of, thrown to whoever runs the script.
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
