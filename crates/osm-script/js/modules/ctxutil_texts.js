// What the commands of a contextManager say, and what they are.
'use strict';
const { formatNum, formatBytes } = require('osm:format');

exports.COMMANDS = {
    add: {
        description: 'Add files and folders, or those that a diff names',
        usage: 'add [--from-diff [spec]] [path…]',
        argCompleters: ['file', 'gitref', 'flag'],
        flagDefs: [{ name: 'from-diff', description: 'Add the files that a git diff names' }],
    },
    diff: {
        description: 'Add a git diff, taken when the prompt is built',
        usage: 'diff [arguments of git diff]',
        argCompleters: ['gitref', 'flag'],
        flagDefs: [
            { name: 'staged', description: 'What is staged' },
            { name: 'stat', description: 'How much has changed' },
            { name: 'name-only', description: 'What has changed' },
        ],
    },
    exec: {
        description: 'Add the output of a command, taken when the prompt is built',
        usage: 'exec <command> [arguments]',
        argCompleters: ['executable', 'file'],
    },
    note: { description: 'Add a note; without text, in the editor', usage: 'note [text]' },
    list: {
        description: 'Show what the prompt is made of',
        usage: 'list [--json]',
        argCompleters: ['flag'],
        flagDefs: [{ name: 'json', description: 'For programs' }],
    },
    edit: { description: 'Edit a note, or what a diff or a command is', usage: 'edit <id>', argCompleters: ['item'] },
    remove: { description: 'Take something out', usage: 'remove <id>…', argCompleters: ['item'] },
    show: {
        description: 'Show the prompt',
        usage: 'show [--json]',
        argCompleters: ['flag'],
        flagDefs: [{ name: 'json', description: 'For programs' }],
    },
    copy: { description: 'Copy the prompt to the clipboard', usage: 'copy' },
};

const { oneLine } = __osm;

// Refuses an option that there is not, where a text could stand: it is a mistake, and no text.
exports.refuseOption = function (command, usage, [first = '']) {
    if (/^--[a-z]\S*$/i.test(first)) {
        const quoted = __osm.quoted(first);
        throw new Error(`${command}: ${quoted} is not understood; usage: ${usage}; a text that begins so is quoted as a whole`);
    }
};

const count = (number, one) => `${formatNum(number)} ${one}${number === 1 ? '' : 's'}`;
const isKnown = (number) => number !== null && number !== undefined;
const isLater = (item) => item.type.startsWith('lazy-') && !item.bytes;

// Tokens, lines, bytes: as far as they are known.
function figures({ tokens, budget, lines, bytes }) {
    const of = isKnown(budget) && isKnown(tokens) ? [`${formatNum(tokens)} of ${count(budget, 'token')}`] : [];
    const plain = of.length === 0 && isKnown(tokens) ? [count(tokens, 'token')] : [];
    return [...of, ...plain, count(lines ?? 0, 'line'), formatBytes(bytes ?? 0)];
}

// The lines that an item is shown in.
exports.listed = function (item) {
    const said = () => {
        if (item.missing) {
            return 'missing';
        }
        if (isLater(item)) {
            return 'taken when the prompt is built';
        }
        return [...(item.folder ? [count(item.files ?? 0, 'file')] : []), ...figures(item)].join(', ');
    };
    const skipped = (item.skipped ?? []).map(({ path, reason }) => `    left out: ${oneLine(path)}: ${oneLine(reason)}`);
    return [oneLine(`[${item.id}] [${item.type}] ${item.label || 'without a name'} (${said()})`), ...skipped];
};

exports.total = function (items, budget) {
    const sum = (field) => items.reduce((all, item) => all + (item[field] ?? 0), 0);
    const tokens = items.some((item) => isKnown(item.tokens)) ? sum('tokens') : null;
    return { tokens, budget, lines: sum('lines'), bytes: sum('bytes') };
};

exports.totalLine = function (total, items) {
    const later = items.filter(isLater).length;
    const more = later === 0 ? '' : `, and ${later} taken when the prompt is built`;
    return `Total: ${count(items.length, 'item')} (${figures(total).join(', ')})${more}`;
};

exports.isOver = (stats) => isKnown(stats?.tokens) && isKnown(stats?.budget) && stats.tokens > stats.budget;
exports.overBudget = ({ tokens, budget }) =>
    `Warning: ${count(tokens, 'token')}, over the budget of ${formatNum(budget)}: 'remove' takes something out`;
exports.summary = ({ tokens, lines, bytes }) => `│ ${figures({ tokens, lines, bytes }).join(' · ')} │`;
exports.restored = (items, files) =>
    `Session restored: ${count(items, 'item')} (${count(files, 'file')}). 'reset' to clear.`;
