// @ts-check
/// <reference path="../../types/osm.d.ts" />
// A script that tests itself: parts, cleanup, and a verdict.

const { query, mergePatch } = require('osm:json');
const path = require('osm:path');

ctx.defer(() => output.print('cleaned up'));

ctx.run('patches', () => {
    const merged = mergePatch({ a: 1, b: { c: 2 } }, { a: null, b: { d: 3 } });
    if (query(merged, 'b.d') !== 3 || 'a' in merged) {
        ctx.errorf('unexpected: %j', merged);
    }
});

ctx.run('paths', () => {
    for (const [pattern, name, expected] of /** @type {[string, string, boolean][]} */ ([
        ['*.js', 'a.js', true],
        ['*.js', 'a/b.js', false],
    ])) {
        if (path.match(pattern, name).matched !== expected) {
            ctx.errorf('%s on %s', pattern, name);
        }
    }
});

ctx.logf('%d parts', 2);
