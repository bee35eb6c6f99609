// The help and the messages of a contextManager's commands.
'use strict';
const { formatNum, formatBytes } = require('osm:format');

exports.COMMANDS = {
    add: {
        description: 'Add files and folders, or the files of a diff',
        usage: 'add [--from-diff [spec]] [path…]',
        argCompleters: ['file', 'gitref', 'flag'],
        flagDefs: [{ name: 'from-diff', description: 'Add the files of a git diff' }],
    },
    diff: {
        description: 'Add a git diff, run when the prompt is built',
        usage: 'diff [arguments of git diff]',
        argCompleters: ['gitref', 'flag'],
        flagDefs: [
            { name: 'staged', description: 'Only staged changes' },
            { name: 'stat', description: 'A summary of the changes' },
            { name: 'name-only', description: 'Only the names of changed files' },
        ],
    },
    exec: {
        description: 'Add the output of a command, run when the prompt is built',
        usage: 'exec <command> [arguments]',
        argCompleters: ['executable', 'file'],
    },
    note: { description: 'Add a note; without text, open the editor', usage: 'note [text]', takesText: true },
    list: {
        description: 'List the items of the prompt',
        usage: 'list [--json]',
        argCompleters: ['flag'],
        flagDefs: [{ name: 'json', description: 'Print JSON' }],
    },
    edit: { description: 'Edit a note, or the arguments of a diff or command', usage: 'edit <id>', argCompleters: ['item'] },
    remove: { description: 'Remove items', usage: 'remove <id>…', argCompleters: ['item'] },
    show: {
        description: 'Print the prompt',
        usage: 'show [--json]',
        argCompleters: ['flag'],
        flagDefs: [{ name: 'json', description: 'Print JSON' }],
    },
    copy: { description: 'Copy the prompt to the clipboard', usage: 'copy' },
};

const { oneLine } = __osm;

// Refuses an unknown option where the command takes text.
exports.refuseOption = function (command, usage, [first = '']) {
    if (/^--[a-z]\S*$/i.test(first)) {
        const quoted = __osm.quoted(first);
        throw new Error(`${command}: unknown option ${quoted}; usage: ${usage}; to start a text with --, put -- and a space before it`);
    }
};

// The text after a command as it was typed; `--` before it is not part of it.
exports.typed = function (args) {
    const text = args.text ?? args.join(' ');
    return args[0] === '--' ? text.replace(/^\s*--\s?/, '') : text;
};

const count = (number, one) => `${formatNum(number)} ${one}${number === 1 ? '' : 's'}`;
const isKnown = (number) => number !== null && number !== undefined;
// A command is run only when the prompt is built.
const isLater = (item) => item.type === 'lazy-exec';

// Tokens (if they were counted), lines and bytes.
function figures({ tokens, budget, lines, bytes }) {
    const of = isKnown(budget) && isKnown(tokens) ? [`${formatNum(tokens)} of ${count(budget, 'token')}`] : [];
    const plain = of.length === 0 && isKnown(tokens) ? [count(tokens, 'token')] : [];
    return [...of, ...plain, count(lines ?? 0, 'line'), formatBytes(bytes ?? 0)];
}

// The lines of `list` for an item.
exports.listed = function (item) {
    const said = () => {
        if (item.missing) {
            return 'missing';
        }
        if (isLater(item)) {
            return 'run when the prompt is built';
        }
        if (isKnown(item.failed)) {
            return `failed: ${item.failed}`;
        }
        if (item.type === 'lazy-diff' && item.bytes === 0) {
            return 'no change';
        }
        return [...(item.folder ? [count(item.files ?? 0, 'file')] : []), ...figures(item)].join(', ');
    };
    // A note is known by its text; a label other than the usual one says more.
    const name = [item.label === 'note' ? '' : item.label, item.beginning].filter((part) => part).join(': ');
    const place = isKnown(item.repository) ? `; from ${item.repository}` : '';
    const skipped = (item.skipped ?? []).map(({ path, reason }) => `    left out: ${oneLine(path)}: ${oneLine(reason)}`);
    return [oneLine(`[${item.id}] [${item.type}] ${name || 'unnamed'} (${said()}${place})`), ...skipped];
};

exports.total = function (items, budget) {
    const sum = (field) => items.reduce((all, item) => all + (item[field] ?? 0), 0);
    const tokens = items.some((item) => isKnown(item.tokens)) ? sum('tokens') : null;
    return { tokens, budget, lines: sum('lines'), bytes: sum('bytes') };
};

exports.totalLine = function (total, items) {
    const later = items.filter(isLater).length;
    const more = later === 0 ? '' : `, and ${later} run when the prompt is built`;
    return `Total: ${count(items.length, 'item')} (${figures(total).join(', ')})${more}`;
};

exports.isOver = (stats) => isKnown(stats?.tokens) && isKnown(stats?.budget) && stats.tokens > stats.budget;
exports.overBudget = ({ tokens, budget }) =>
    `Warning: ${count(tokens, 'token')}, over the budget of ${formatNum(budget)}; remove items with 'remove'`;
exports.summary = ({ tokens, lines, bytes }) => `│ ${figures({ tokens, lines, bytes }).join(' · ')} │`;
exports.restored = (items, files) =>
    `Session restored: ${count(items, 'item')} (${count(files, 'file')}). 'reset' clears it.`;
