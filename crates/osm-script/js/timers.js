// Timers. The event loop asks when the next one is due, sleeps, and fires it.
'use strict';
(function (ours) {
    const timers = new Map();
    let last = 0;

    function add(callback, delay, every, rest, quiet = false) {
        if (typeof callback !== 'function') {
            throw new TypeError('a timer needs a function');
        }
        const time = Math.max(0, Math.min(Number(delay) || 0, 2 ** 31));
        last += 1;
        timers.set(last, { due: Date.now() + time, time, every, callback, rest, quiet });
        return last;
    }

    globalThis.setTimeout = (callback, delay, ...rest) => add(callback, delay, false, rest);
    globalThis.setInterval = (callback, delay, ...rest) => add(callback, delay, true, rest);
    globalThis.setImmediate = (callback, ...rest) => add(callback, 0, false, rest);
    globalThis.clearTimeout = (id) => void timers.delete(id);
    globalThis.clearInterval = globalThis.clearTimeout;
    globalThis.clearImmediate = globalThis.clearTimeout;
    globalThis.queueMicrotask = (callback) => void Promise.resolve().then(callback);

    // A timer that keeps no script running. It counts only while other timers do, or a promise is awaited.
    ours.setQuietTimer = (callback, delay) => add(callback, delay, false, [], true);

    // Milliseconds until the next timer is due, or null.
    ours.nextTimer = function () {
        let due = Infinity;
        let isWaiting = ours.result instanceof Promise;
        for (const timer of timers.values()) {
            due = Math.min(due, timer.due);
            isWaiting ||= !timer.quiet;
        }
        return due === Infinity || !isWaiting ? null : Math.max(0, Math.ceil(due - Date.now()));
    };

    // Fires the timer that was due first; jobs that it starts run before the next one.
    ours.fireTimers = function () {
        let first = null;
        for (const [id, timer] of timers) {
            if (first === null || timer.due < timers.get(first).due) {
                first = id;
            }
        }
        if (first === null) {
            return;
        }
        const timer = timers.get(first);
        if (timer.every) {
            timer.due = Date.now() + Math.max(1, timer.time);
        } else {
            timers.delete(first);
        }
        timer.callback(...timer.rest);
    };

    // Discards the timers and rejections of a script that failed.
    ours.forget = function () {
        timers.clear();
        ours.forgetRejections();
    };
})(__osm);
