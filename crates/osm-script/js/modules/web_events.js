// Event and EventTarget, as far as AbortSignal needs them: there is no tree, so an event has one target.
'use strict';

// What a script must not change.
const hidden = new WeakMap();

class Event {
    constructor(...given) {
        if (given.length === 0) {
            throw new TypeError('Event: argument 1 is missing');
        }
        const [type, options] = given;
        hidden.set(this, {
            type: String(type),
            cancelable: Boolean(options?.cancelable),
            bubbles: Boolean(options?.bubbles),
            timeStamp: performance.now(),
            target: null,
            isRunning: false,
            isStopped: false,
            isPrevented: false,
        });
    }

    get type() {
        return hidden.get(this).type;
    }

    get target() {
        return hidden.get(this).target;
    }

    get currentTarget() {
        const event = hidden.get(this);
        return event.isRunning ? event.target : null;
    }

    get bubbles() {
        return hidden.get(this).bubbles;
    }

    get cancelable() {
        return hidden.get(this).cancelable;
    }

    get defaultPrevented() {
        return hidden.get(this).isPrevented;
    }

    get timeStamp() {
        return hidden.get(this).timeStamp;
    }

    preventDefault() {
        const event = hidden.get(this);
        event.isPrevented ||= event.cancelable;
    }

    stopPropagation() {}

    stopImmediatePropagation() {
        hidden.get(this).isStopped = true;
    }

    get [Symbol.toStringTag]() {
        return 'Event';
    }
}

class EventTarget {
    constructor() {
        hidden.set(this, []);
    }

    addEventListener(type, callback, options) {
        if (callback === null || callback === undefined) {
            return;
        }
        if (typeof callback !== 'function' && typeof callback !== 'object') {
            throw new TypeError('addEventListener: argument 2 must be a function or an object');
        }
        const capture = isCapture(options);
        const signal = options?.signal;
        const listeners = hidden.get(this);
        if (signal?.aborted || listeners.some((it) => isListener(it, type, callback, capture))) {
            return;
        }
        listeners.push({ type: String(type), callback, capture, once: Boolean(options?.once), isRemoved: false });
        signal?.addEventListener('abort', () => this.removeEventListener(type, callback, options), { once: true });
    }

    removeEventListener(type, callback, options) {
        const listeners = hidden.get(this);
        const at = listeners.findIndex((it) => isListener(it, type, callback, isCapture(options)));
        if (at >= 0) {
            listeners[at].isRemoved = true;
            listeners.splice(at, 1);
        }
    }

    dispatchEvent(given) {
        if (!(given instanceof Event)) {
            throw new TypeError('dispatchEvent: argument 1 must be an Event');
        }
        const event = hidden.get(given);
        if (event.isRunning) {
            throw new DOMException('the event is being dispatched already', 'InvalidStateError');
        }
        Object.assign(event, { target: this, isRunning: true, isStopped: false });
        for (const listener of [...hidden.get(this)]) {
            if (event.isStopped) {
                break;
            }
            if (listener.type === event.type && !listener.isRemoved) {
                run(listener, this, given);
            }
        }
        event.isRunning = false;
        return !event.isPrevented;
    }

    get [Symbol.toStringTag]() {
        return 'EventTarget';
    }
}

const isCapture = (options) => (typeof options === 'object' ? Boolean(options?.capture) : Boolean(options));
const isListener = (it, type, callback, capture) =>
    it.type === String(type) && it.callback === callback && it.capture === capture;

// A listener that throws keeps no other one from running; its error is that of the script.
function run({ type, callback, capture, once }, target, event) {
    if (once) {
        target.removeEventListener(type, callback, capture);
    }
    try {
        if (typeof callback === 'function') {
            callback.call(target, event);
        } else {
            callback.handleEvent(event);
        }
    } catch (error) {
        Promise.reject(error);
    }
}

Object.assign(exports, { Event, EventTarget });
