// @ts-check
/// <reference path="../../types/osm.d.ts" />
// A script that is no mode: flags, a program, a template. `osm script report.js -title Files a b`

const { newFlagSet } = require('osm:flag');
const { execv } = require('osm:exec');
const { formatBytes } = require('osm:format');
const { render } = require('osm:template');

const flags = newFlagSet('report')
    .string('title', 'Report', 'what the report is called')
    .bool('loud', false, 'in capitals');
const { error: mistake } = flags.parse(args);
if (mistake !== null) {
    throw new Error(`${mistake}\n${flags.defaults()}`);
}

const rows = flags.args().map((name) => {
    const { stdout, error, message } = execv(['echo', name]);
    if (error) {
        throw new Error(message);
    }
    return { name: stdout.trim(), size: formatBytes(stdout.length) };
});

const text = render(
    '# {{ title | upper if loud else title }}\n{% for row in rows %}- {{ row.name }}: {{ row.size }}\n{% else %}Nothing.\n{% endfor %}',
    { title: flags.get('title'), loud: flags.get('loud'), rows },
);
output.print(text.trimEnd());
