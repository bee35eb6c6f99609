// Files, diffs and notes, and the request to review them.
'use strict';
const { contextManager } = require('osm:ctxutil');
const TEMPLATE = 'Review this.\n\n{{ context }}\n';
const manager = contextManager({ prompt: () => ({ template: TEMPLATE, data: {} }) });
tui.registerMode({
    name: 'code-review',
    tui: { title: 'Code review', prompt: '(code-review) > ' },
    onEnter() { output.print("Type 'help' for commands."); },
    commands: () => manager.commands,
});
