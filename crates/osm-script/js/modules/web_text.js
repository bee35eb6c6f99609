// TextEncoder and TextDecoder, for UTF-8. The program converts; this keeps what a stream has left.
'use strict';

const LABELS = ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8'];

// The bytes of an ArrayBuffer or a view of one.
function bytesOf(source) {
    if (ArrayBuffer.isView(source)) {
        return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    }
    if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) {
        return new Uint8Array(source);
    }
    throw new TypeError('decode: argument 1 must be an ArrayBuffer or a view of one');
}

// Bytes cross to the program as characters; a call takes only so many arguments.
const PIECE = 8192;
function crossing(bytes) {
    let text = '';
    for (let at = 0; at < bytes.length; at += PIECE) {
        text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
    }
    return text;
}

const encode = (text) => __osm.encodeText(text.toWellFormed());

// How many bytes a character has in UTF-8.
function sizeOf(code) {
    if (code < 0x80) {
        return 1;
    }
    if (code < 0x800) {
        return 2;
    }
    return code < 0x10000 ? 3 : 4;
}

class TextEncoder {
    get encoding() {
        return 'utf-8';
    }

    encode(text = '') {
        return encode(String(text));
    }

    encodeInto(source, destination) {
        if (!(destination instanceof Uint8Array)) {
            throw new TypeError('encodeInto: argument 2 must be a Uint8Array');
        }
        const text = String(source).toWellFormed();
        let [read, written] = [0, 0];
        for (const character of text) {
            const size = sizeOf(character.codePointAt(0));
            if (written + size > destination.length) {
                break;
            }
            written += size;
            read += character.length;
        }
        destination.set(encode(text.slice(0, read)));
        return { read, written };
    }

    get [Symbol.toStringTag]() {
        return 'TextEncoder';
    }
}

class TextDecoder {
    #fatal;
    #ignoreBOM;
    // The bytes of a character that has not ended, and whether the stream has begun.
    #left = new Uint8Array();
    #hasBegun = false;

    constructor(label = 'utf-8', options = {}) {
        if (!LABELS.includes(String(label).trim().toLowerCase())) {
            throw new RangeError(`the encoding '${__osm.oneLine(label)}' is not supported; use utf-8`);
        }
        this.#fatal = Boolean(options?.fatal);
        this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding() {
        return 'utf-8';
    }

    get fatal() {
        return this.#fatal;
    }

    get ignoreBOM() {
        return this.#ignoreBOM;
    }

    decode(source, options = {}) {
        const more = source === undefined ? new Uint8Array() : bytesOf(source);
        let bytes = more;
        if (this.#left.length > 0) {
            bytes = new Uint8Array(this.#left.length + more.length);
            bytes.set(this.#left);
            bytes.set(more, this.#left.length);
        }
        const goesOn = Boolean(options?.stream);
        const isFirst = !this.#hasBegun;
        [this.#left, this.#hasBegun] = [new Uint8Array(), false];
        const [text, left] = __osm.decodeText(crossing(bytes), goesOn, this.#fatal);
        if (goesOn) {
            this.#left = bytes.slice(bytes.length - left);
            this.#hasBegun = !isFirst || text !== '';
        }
        return isFirst && !this.#ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
    }

    get [Symbol.toStringTag]() {
        return 'TextDecoder';
    }
}

Object.assign(exports, { TextDecoder, TextEncoder });
