// ctx: a script as a test, with sub-tests, cleanup and a result.
'use strict';
(function (ours) {
    // Errors that were reported already.
    const told = new WeakSet();
    const isTold = (error) => typeof error === 'object' && error !== null && told.has(error);
    const root = { name: 'script', failed: false, deferred: [] };
    let current = root;

    const say = (name, text) => void ours.invoke('osm:output', name, [text]);
    const line = (values) => values.map(ours.shown).join(' ');

    function note(text) {
        if (ours.test) {
            say('print', `[${current.name}] ${text}`);
        }
    }

    function fail(text) {
        say('printError', `[${current.name}] ERROR: ${text}`);
        current.failed = true;
    }

    // Runs all deferred functions, the last first, even where one throws.
    function cleanUp(context) {
        while (context.deferred.length > 0) {
            try {
                context.deferred.pop()();
            } catch (error) {
                if (!isTold(error)) {
                    fail(`deferred: ${ours.shown(error)}`);
                }
            }
        }
    }

    function run(name, part) {
        const outer = current;
        const inner = { name: `${outer.name}/${name}`, failed: false, deferred: [] };
        current = inner;
        try {
            part();
        } catch (error) {
            if (!isTold(error)) {
                fail(ours.shown(error));
            }
        } finally {
            cleanUp(inner);
            current = outer;
        }
        outer.failed ||= inner.failed;
        note(`Sub-test ${name} ${inner.failed ? 'failed' : 'passed'}`);
        return !inner.failed;
    }

    function fatal(text) {
        fail(text);
        const error = new Error(text);
        told.add(error);
        throw error;
    }

    globalThis.ctx = Object.freeze({
        run,
        defer: (later) => void current.deferred.push(later),
        log: (...values) => note(line(values)),
        logf: (pattern, ...values) => note(ours.format(pattern, ...values)),
        error: (...values) => fail(line(values)),
        errorf: (pattern, ...values) => fail(ours.format(pattern, ...values)),
        fatal: (...values) => fatal(line(values)),
        fatalf: (pattern, ...values) => fatal(ours.format(pattern, ...values)),
        failed: () => current.failed,
        name: () => current.name,
    });

    // Ends a script: runs the deferred functions, also after a failure, then gives the result.
    ours.cleanUp = function () {
        cleanUp(root);
        const { failed } = root;
        root.failed = false;
        return failed;
    };
    ours.finish = function () {
        if (ours.cleanUp()) {
            throw new Error('test context failed');
        }
    };
})(__osm);
