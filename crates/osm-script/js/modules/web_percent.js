// Percent-encoding, with the sets of characters of the URL standard.
'use strict';

const among = (characters, more) => (character) => characters.includes(character) || more(character);

const control = (character) => character <= '\x1f' || character > '\x7e';
const fragment = among(' "<>`', control);
const query = among(' "#<>', control);
const specialQuery = among("'", query);
const path = among('?^`{}', query);
const userinfo = among('/:;=@[\\]|', path);
const component = among('$%&+,', userinfo);
const form = among("!'()~", component);
exports.SETS = { control, fragment, query, specialQuery, path, userinfo, form };

const escaped = (code) => `%${code.toString(16).toUpperCase().padStart(2, '0')}`;

// Encodes the characters of a text that are in a set. There are no lone surrogates.
exports.encode = function (text, isInSet) {
    let encoded = '';
    for (const character of text) {
        if (!isInSet(character)) {
            encoded += character;
        } else if (character <= '\x7f') {
            encoded += escaped(character.charCodeAt(0));
        } else {
            encoded += encodeURIComponent(character);
        }
    }
    return encoded;
};

// The text that an encoded one means. Bytes that are not UTF-8 are replaced.
exports.decode = function (text) {
    if (!text.includes('%')) {
        return text;
    }
    const encoded = exports.encode(text, (character) => character > '\x7f');
    const bytes = encoded.replace(/%([\da-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
    return __osm.decodeText(bytes, false, false)[0];
};
