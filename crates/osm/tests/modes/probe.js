// A mode with a command for everything that a loop has to cope with.
'use strict';
const shared = require('osm:sharedStateSymbols');
const items = shared.contextItems;
const local = Symbol('local');
const state = tui.createState('probe', { [items]: { defaultValue: [] }, [local]: { defaultValue: 0 } });
state.observe(items, (value) => output.print(`seen: ${value.map((each) => each.payload).join(', ')}`));

const add = (text) => {
    const list = state.get(items);
    const id = Math.max(0, ...list.map((each) => each.id)) + 1;
    state.set(items, [...list, { id, type: 'note', label: 'note', payload: text }]);
};
tui.registerCompleter('colours', () => [{ text: 'red', description: 'warm' }, 'green']);
tui.registerKeyBinding('ctrl-t', () => output.print('the key was pressed'));
tui.registerCommand({ name: 'anywhere', description: 'Is in every mode', handler: () => output.print('everywhere') });
tui.registerMode({
    name: 'probe',
    tui: { title: 'Probe', prompt: '(probe) > ' },
    onEnter: () => output.print('welcome'),
    onExit: () => output.print('bye'),
    commands: {
        keep: { description: 'Keep a text', usage: 'keep TEXT', handler: (args) => { add(args.join(' ')); output.print(`kept ${args.join(' ')}`); } },
        show: { description: 'Show what is kept', handler: () => output.print(`all: ${state.get(items).map((each) => each.payload).join(', ')}`) },
        words: { description: 'Show the words of a line', handler: (args) => output.print(JSON.stringify(args)) },
        fail: { description: 'Keep something and fail', handler: () => { add('half'); throw new Error('it went wrong'); } },
        fault: { description: 'Do what a programmer did not mean', handler: () => undefined.x },
        loop: { description: 'Never end', handler: () => { output.print('looping'); for (;;); } },
        bomb: { description: 'Take all memory', handler: () => { for (const all = []; ; ) all.push(new Uint8Array(1 << 20)); } },
        regex: { description: 'Match for ever', handler: () => { output.print('matching'); return /(a+)+b/.test('a'.repeat(60)); } },
        clip: { description: 'Copy a text', handler: (args) => { output.toClipboard(args.join(' ')); output.print('copied'); } },
        clap: { description: 'Show the clipboard', handler: () => output.print(output.fromClipboard()) },
        edit: { description: 'Edit a text', handler: () => output.print(`edited: ${require('osm:os').openEditor('my text', 'old')}`) },
        paint: { description: 'Paint', usage: 'paint [--wet] COLOUR', argCompleters: ['colours', 'flag'], flagDefs: [{ name: 'wet', description: 'does not dry' }], handler: (args) => output.print(`painted ${args}`) },
        open: { description: 'Open a file', argCompleters: ['file'], handler: (args) => output.print(`opened ${args}`) },
        leave: { description: 'End the program', handler: () => tui.requestExit() },
    },
});
tui.registerMode({ name: 'other', tui: { title: 'Another' }, initialCommand: 'anywhere', commands: {} });
