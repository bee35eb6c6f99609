// @ts-check
/// <reference path="../../types/osm.d.ts" />
// A prompt of your own: shared context, a template, and one setting.

const shared = require('osm:sharedStateSymbols');
const nextIntegerId = require('osm:nextIntegerId');
const { contextManager } = require('osm:ctxutil');

const AUDIENCES = ['beginner', 'expert'];
const audience = Symbol('audience');
const state = tui.createState('explain', {
    [shared.contextItems]: { defaultValue: [] },
    [audience]: { defaultValue: 'beginner' },
});

const manager = contextManager({
    getItems: () => state.get(shared.contextItems),
    setItems: (items) => state.set(shared.contextItems, items),
    nextIntegerId,
    prompt: () => ({
        template: 'Explain this to {{ "an" if audience == "expert" else "a" }} {{ audience }}.\n\n{{ context }}',
        data: { audience: state.get(audience) },
    }),
    postCopyHint: 'Paste it where you ask.',
});

tui.registerCompleter('audience', (document) =>
    AUDIENCES.filter((each) => each.startsWith(document.getWordBeforeCursor())),
);

tui.registerMode({
    name: 'explain',
    tui: { title: 'Explain', prompt: '(explain) > ' },
    onEnter: () => void manager.rehydrate(),
    commands: () => ({
        ...manager.commands,
        audience: {
            description: 'Whom it is explained to',
            usage: `audience [${AUDIENCES.join('|')}]`,
            argCompleters: ['audience'],
            handler: ([wanted]) => {
                if (wanted === undefined) {
                    output.print(`Audience: ${state.get(audience)}`);
                } else if (AUDIENCES.includes(wanted)) {
                    state.set(audience, wanted);
                    output.print(`Audience set to ${wanted}`);
                } else {
                    throw new Error(`there is no audience '${wanted}'; there are: ${AUDIENCES.join(', ')}`);
                }
            },
        },
    }),
});
