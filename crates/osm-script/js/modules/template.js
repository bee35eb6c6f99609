// Templates (MiniJinja): rendered at once, or parsed once and executed many times.
'use strict';

exports.render = (text, data) => functions.render(text, data);
exports.check = (text) => void functions.check(text);

// A template with a name, which its errors mention.
exports.new = function (name) {
    let parsed = null;
    const template = {
        name: () => name,
        parse: (text) => {
            functions.check(text, name);
            parsed = text;
            return template;
        },
        execute: (data) => {
            if (parsed === null) {
                throw new Error(`the template '${name}' has no text: parse one first`);
            }
            return functions.render(parsed, data, name);
        },
    };
    return Object.freeze(template);
};
