// A stand-in.
'use strict';
const shared = require('osm:sharedStateSymbols');
const state = tui.createState('code-review', { [shared.contextItems]: { defaultValue: [] } });
tui.registerMode({
    name: 'code-review',
    tui: { title: 'Code review', prompt: '(code-review) > ' },
    onEnter() { output.print("Type 'help' for commands."); },
    commands: {
        note: {
            description: 'Add a note',
            usage: 'note TEXT',
            handler(args) {
                const items = state.get(shared.contextItems);
                state.set(shared.contextItems, [...items, { id: items.length + 1, type: 'note', label: 'note', payload: args.join(' ') }]);
                output.print(`Added note [${items.length + 1}]`);
            },
        },
        list: { description: 'List the items', handler() { for (const item of state.get(shared.contextItems)) output.print(`[${item.id}] ${item.payload}`); } },
        add: { description: 'Add files', usage: 'add FILE…', argCompleters: ['file', 'flag'], flagDefs: [{ name: 'from-diff', description: 'changed files' }], handler(args) { output.print('add ' + args.join('|')); } },
        diff: { description: 'Add a diff', argCompleters: ['gitref'], handler() {} },
        copy: { description: 'Copy', handler(args) { output.toClipboard(args.join(' ')); output.print('Copied'); } },
    },
});
