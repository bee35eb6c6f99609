// AbortController and AbortSignal.
'use strict';
const { Event, EventTarget } = require('osm:web/events');

// Only this file makes signals.
const KEY = Symbol('the key of AbortSignal');
const LONGEST = Number.MAX_SAFE_INTEGER;

// Aborts a signal and those that depend on it. All are aborted before a listener runs.
let abort;

class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    #onabort = null;
    #listens = false;
    // The signals that abort with this one, and those that abort this one.
    #dependents = new Set();
    #sources = new Set();

    constructor(key) {
        if (key !== KEY) {
            throw new TypeError('Illegal constructor: use AbortController, AbortSignal.abort, any or timeout');
        }
        super();
    }

    static {
        abort = (signal, given) => {
            if (signal.#aborted) {
                return;
            }
            const reason = given === undefined ? new DOMException('This operation was aborted', 'AbortError') : given;
            const all = [signal, ...signal.#dependents].filter((it) => !it.#aborted);
            for (const each of all) {
                [each.#aborted, each.#reason] = [true, reason];
            }
            for (const each of all) {
                each.dispatchEvent(new Event('abort'));
                each.#sources.clear();
                each.#dependents.clear();
            }
        };
    }

    static abort(reason) {
        const signal = new AbortSignal(KEY);
        abort(signal, reason);
        return signal;
    }

    static any(signals) {
        const given = [...signals];
        if (!given.every((it) => it instanceof AbortSignal)) {
            throw new TypeError('AbortSignal.any: argument 1 must contain only signals');
        }
        const signal = new AbortSignal(KEY);
        const first = given.find((it) => it.#aborted);
        if (first !== undefined) {
            abort(signal, first.#reason);
            return signal;
        }
        for (const each of given) {
            // A signal of any() has no cause of its own: its sources are the causes.
            for (const source of each.#sources.size > 0 ? each.#sources : [each]) {
                source.#dependents.add(signal);
                signal.#sources.add(source);
            }
        }
        return signal;
    }

    static timeout(milliseconds) {
        const delay = Math.trunc(Number(milliseconds));
        if (!(delay >= 0 && delay <= LONGEST)) {
            throw new TypeError('AbortSignal.timeout: argument 1 must be a number of milliseconds');
        }
        const signal = new AbortSignal(KEY);
        const late = () => abort(signal, new DOMException('The operation timed out', 'TimeoutError'));
        __osm.setQuietTimer(late, delay);
        return signal;
    }

    get aborted() {
        return this.#aborted;
    }

    get reason() {
        return this.#reason;
    }

    get onabort() {
        return this.#onabort;
    }

    set onabort(callback) {
        this.#onabort = typeof callback === 'function' ? callback : null;
        if (!this.#listens) {
            this.#listens = true;
            this.addEventListener('abort', (event) => this.#onabort?.call(this, event));
        }
    }

    throwIfAborted() {
        if (this.#aborted) {
            throw this.#reason;
        }
    }

    get [Symbol.toStringTag]() {
        return 'AbortSignal';
    }
}

class AbortController {
    #signal = new AbortSignal(KEY);

    get signal() {
        return this.#signal;
    }

    abort(reason) {
        abort(this.#signal, reason);
    }

    get [Symbol.toStringTag]() {
        return 'AbortController';
    }
}

Object.assign(exports, { AbortController, AbortSignal });
