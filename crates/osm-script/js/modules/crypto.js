// Digests of text or bytes. Bytes cross to the program as hexadecimal text.
'use strict';

// Bytes are a view, an ArrayBuffer or an array of numbers; anything else is text.
function crossing(value) {
    let bytes;
    if (ArrayBuffer.isView(value)) {
        bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    } else if (value instanceof ArrayBuffer || Array.isArray(value)) {
        bytes = new Uint8Array(value);
    } else {
        return String(value ?? '');
    }
    return { hex: Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') };
}

for (const [name, run] of Object.entries(functions)) {
    exports[name] = (one, other) => run(crossing(one), crossing(other));
}
