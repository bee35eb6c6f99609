// Code review: collect changes and files, and build a prompt that asks for a strict review.
'use strict';
const { contextManager } = require('osm:ctxutil');
const nextIntegerId = require('osm:nextIntegerId');
const { refuseOption } = require('osm:ctxutil/texts');
const shared = require('osm:sharedStateSymbols');
const native = require('osm:context');

const { oneLine } = __osm;

const MODE = 'code-review';
// The default size of a chunk: models review longer changes less carefully.
const CHUNK_LINES = 500;

// Focus areas of a review: a summary, and the text of the note.
const FOCUS = {
    comments: ['comments that are wrong, outdated or missing', 'Look at the comments. Report those that are wrong, outdated or say what the code says; and places where the reason for something surprising is missing. Propose the exact wording.'],
    docs: ['documentation that no longer holds or is missing', 'Look at the documentation. Does every changed behaviour, option, default and error appear where users look for it, and is everything there still true? Name the page or doc comment, and write the missing text.'],
    tests: ['what can break without a test noticing', 'Look at the tests. For each changed behaviour: which test fails if it breaks? List the cases that no test covers, the boundaries and the failures first, and tests that would pass with wrong code.'],
    performance: ['what gets slow or large as things grow', 'Look at performance. Name the size or rate that grows, what the change costs as it does, and where work, allocations, queries or waiting repeat. Estimates are called estimates; say how to measure.'],
    security: ['what untrusted data can do', 'Look at security. Mark where untrusted data enters and follow it to every effect: injection, paths, authorisation, secrets, limits, defaults, logs. For each finding describe the attack, step by step.'],
};

const state = tui.createState(MODE, { [shared.contextItems]: { defaultValue: [] } });
const manager = contextManager({
    getItems: () => state.get(shared.contextItems),
    setItems: (items) => state.set(shared.contextItems, items),
    nextIntegerId,
    prompt: () => ({ template: PROMPTS.codeReview, data: { chunk: 1, chunks: 1 } }),
});
const base = manager.commands;

function note(args) {
    if (args.length === 1 && args[0] === '--goals') {
        output.print('Focus areas:');
        for (const [name, [about]] of Object.entries(FOCUS)) {
            output.print(`  note goal:${name.padEnd(12)} ${about}`);
        }
        return undefined;
    }
    if (args.length === 1 && args[0].startsWith('goal:')) {
        const name = args[0].slice('goal:'.length);
        if (!Object.hasOwn(FOCUS, name)) {
            throw new Error(`note: unknown focus area '${oneLine(name)}'; focus areas: ${Object.keys(FOCUS).join(', ')}`);
        }
        const id = manager.addItem('note', 'review-focus', FOCUS[name][1]);
        return output.tell(`Added review focus [${id}]: ${name}`);
    }
    refuseOption('note', commands.note.usage, args);
    return base.note.handler(args);
}

// The current text of a diff, or null if it is empty. A diff that fails is an error here: without it there
// is nothing to review.
function diffText(item) {
    const { text, stats } = native.build([item]);
    if (text.startsWith('### Diff (failed): ')) {
        throw new Error(`review-chunks: ${oneLine(stats.warnings[0])}`);
    }
    const head = /^### Diff: [^\n]*\n\n(`{3,})diff( no-eol)?\n/.exec(text);
    if (head === null) {
        return null;
    }
    const end = text.lastIndexOf(`\n${head[1]}\n`);
    const body = text.slice(head[0].length, Math.max(end + 1, head[0].length));
    return head[2] === undefined ? body : body.slice(0, -1);
}

// Splits lines before each line that starts a part; lines before the first are a part, too.
function cutBefore(lines, begins) {
    const parts = [];
    for (const line of lines) {
        if (parts.length === 0 || begins(line)) {
            parts.push([]);
        }
        parts.at(-1).push(line);
    }
    return parts;
}

// Splits one file of a diff at `@@` into parts that fit, each with the file's header. A hunk is never
// split: half a hunk is not a valid diff.
function fileParts(lines, most) {
    if (lines.length <= most) {
        return [lines];
    }
    const [header, ...hunks] = cutBefore(lines, (line) => line.startsWith('@@'));
    const parts = [];
    for (const hunk of hunks) {
        const last = parts.at(-1);
        if (last !== undefined && last.length + hunk.length <= most) {
            last.push(...hunk);
        } else {
            parts.push([...header, ...hunk]);
        }
    }
    return parts.length === 0 ? [lines] : parts;
}

function fileName(lines) {
    const added = lines.find((line) => line.startsWith('+++ ') && line !== '+++ /dev/null');
    const named = /^(?:\+\+\+ (?:[a-z]\/)?|diff --git \S+ (?:[a-z]\/)?|diff --cc )(.*)$/.exec(added ?? lines[0] ?? '');
    return named === null ? 'text before the first file' : named[1].trim();
}

// The parts of a diff: whole files, or groups of hunks.
function diffUnits(item, text, most) {
    const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n');
    const files = cutBefore(lines, (line) => /^diff --(git|cc|combined) /.test(line));
    return files.flatMap((file) => {
        const parts = fileParts(file, most);
        return parts.map((part, at) => ({
            item,
            name: parts.length === 1 ? fileName(file) : `${fileName(file)} (${at + 1}/${parts.length})`,
            lines: part.length,
            text: `${part.join('\n')}\n`,
        }));
    });
}

// All items as parts that must stay together; notes go into every chunk.
function units(most) {
    return manager
        .getItems()
        .filter((item) => item.type !== 'note')
        .flatMap((item) => {
            const text = item.type === 'diff' || item.type === 'lazy-diff' ? diffText(item) : null;
            if (text !== null && text.trim() !== '') {
                return diffUnits(item, text, most);
            }
            const [about] = native.describe([item]);
            return [{ item, name: about.label, lines: about.lines ?? 0, text: null }];
        });
}

// Packs parts into chunks, in order.
function chunks(most) {
    const packed = [];
    for (const unit of units(most)) {
        const last = packed.at(-1);
        if (last !== undefined && last.lines + unit.lines <= most) {
            last.units.push(unit);
            last.lines += unit.lines;
        } else {
            packed.push({ units: [unit], lines: unit.lines });
        }
    }
    return packed;
}

// The items of a chunk: parts of one diff are joined to one diff.
function itemsOf(chunk) {
    const items = manager.getItems().filter((item) => item.type === 'note');
    let whole = null;
    for (const { item, text } of chunk.units) {
        if (text === null) {
            items.push(item);
        } else if (whole !== null && whole.id === item.id) {
            whole.payload += text;
        } else {
            whole = { id: item.id, type: 'diff', label: item.label, payload: text };
            items.push(whole);
        }
    }
    return items;
}

const count = (lines) => `${lines} ${lines === 1 ? 'line' : 'lines'}`;

function reviewChunks(args) {
    const usage = `usage: ${commands['review-chunks'].usage}`;
    const words = [...args];
    let [most, number, isShown] = [CHUNK_LINES, null, false];
    while (words.length > 0) {
        const word = words.shift();
        if (word === '--show') {
            isShown = true;
        } else if (word === '--lines') {
            const value = words.shift();
            if (!/^[1-9]\d{0,8}$/.test(value ?? '')) {
                const given = value === undefined ? '' : `, not '${oneLine(value)}'`;
                throw new Error(`review-chunks: '--lines' takes a number of at least 1${given}; ${usage}`);
            }
            most = Number(value);
        } else if (/^\d+$/.test(word) && number === null) {
            number = Number(word);
        } else {
            throw new Error(`review-chunks: unexpected argument '${oneLine(word)}'; ${usage}`);
        }
    }
    if (manager.getItems().length === 0) {
        throw new Error("review-chunks: nothing to review yet; add a change with 'diff main'");
    }
    const all = chunks(most);
    const lines = all.reduce((sum, chunk) => sum + chunk.lines, 0);
    if (all.length <= 1) {
        return output.tell(`Everything fits in one chunk (${count(lines)}); use 'copy'.`);
    }
    const shown = (chunk) => `${chunk.units.map((unit) => oneLine(unit.name)).join(', ')} (${count(chunk.lines)})`;
    if (number === null) {
        all.forEach((chunk, at) => output.print(`  Chunk ${at + 1}/${all.length}: ${shown(chunk)}`));
        return output.tell("Next: 'review-chunks 1' copies the first.");
    }
    if (number < 1 || number > all.length) {
        throw new Error(`review-chunks: no chunk ${number}; chunks: 1 to ${all.length}`);
    }
    const chunk = all[number - 1];
    const request = {
        template: PROMPTS.codeReview,
        data: { chunk: number, chunks: all.length },
        items: itemsOf(chunk),
    };
    if (isShown) {
        native.show(request);
        return undefined;
    }
    native.copy(request);
    output.tell(`Chunk ${number}/${all.length} copied: ${shown(chunk)}`);
    const next = number < all.length ? `Next: 'review-chunks ${number + 1}'.` : 'That was the last chunk.';
    return output.tell(next);
}

const commands = {
    ...base,
    note: {
        ...base.note,
        description: 'Add a note or a focus area',
        usage: 'note [text] | --goals | goal:NAME',
        argCompleters: ['review-focus', 'flag'],
        flagDefs: [{ name: 'goals', description: 'List the focus areas' }],
        handler: note,
    },
    'review-chunks': {
        description: 'Copy a large change in chunks; without a number, list them',
        usage: 'review-chunks [--lines COUNT] [--show] [NUMBER]',
        argCompleters: ['flag'],
        flagDefs: [
            { name: 'lines', description: `Lines in a chunk (default ${CHUNK_LINES})` },
            { name: 'show', description: 'Print the chunk instead of copying it' },
        ],
        handler: reviewChunks,
    },
};

tui.registerCompleter('review-focus', () => Object.entries(FOCUS).map(([name, [description]]) => ({ text: `goal:${name}`, description })));
tui.registerMode({
    name: MODE,
    tui: { title: 'Code review', prompt: '(code-review) > ' },
    onEnter() {
        manager.rehydrate();
        output.tell("Type 'help' for commands. Try 'diff main', then 'copy'; 'note --goals' lists focus areas.");
    },
    commands,
});
