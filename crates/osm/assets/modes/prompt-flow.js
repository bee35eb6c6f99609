// Prompt flow: builds a meta-prompt from a goal and its context, which asks a model to write a prompt; then
// builds the final prompt from the model's answer and the context.
'use strict';
const { contextManager } = require('osm:ctxutil');
const nextIntegerId = require('osm:nextIntegerId');
const texts = require('osm:ctxutil/texts');
const { openEditor } = require('osm:os');
const shared = require('osm:sharedStateSymbols');
const native = require('osm:context');
const templates = require('osm:template');

const MODE = 'prompt-flow';
const INITIAL = 'INITIAL';
const CONTEXT_BUILDING = 'CONTEXT_BUILDING';
const META_GENERATED = 'META_GENERATED';
const TASK_PROMPT_SET = 'TASK_PROMPT_SET';

// Prewritten goals.
const PREWRITTEN = {
    'comment-stripper': 'Remove the comments that say nothing, keep and sharpen those that carry a reason or a contract, and leave the behaviour of the code, licence headers and directives for tools exactly as they are.',
    'doc-generator': 'Write documentation for a developer who has to use or change this code tomorrow: purpose, a first example that runs, concepts, reference of everything public, failure and limits. The code is the truth; nothing is invented.',
    'test-generator': 'Write tests that fail when this code is wrong: every public behaviour, boundaries from both sides, every failure path, properties where a rule holds for all inputs. No test that cannot fail, none that depends on time or order.',
    'document-refiner': 'Make this document complete, consistent and precise enough to be relied on, without changing its decisions: close gaps, resolve contradictions, name what has to be decided, and cut what no reader needs.',
};

const keys = {
    phase: Symbol('phase'),
    goal: Symbol('goal'),
    template: Symbol('template'),
    metaPrompt: Symbol('metaPrompt'),
    taskPrompt: Symbol('taskPrompt'),
    footer: Symbol('footer'),
};
const state = tui.createState(MODE, {
    [shared.contextItems]: { defaultValue: [] },
    [keys.phase]: { defaultValue: INITIAL },
    [keys.goal]: { defaultValue: '' },
    [keys.template]: { defaultValue: null },
    [keys.metaPrompt]: { defaultValue: '' },
    [keys.taskPrompt]: { defaultValue: '' },
    [keys.footer]: { defaultValue: '' },
});
const get = (name) => state.get(keys[name]);
const set = (name, value) => state.set(keys[name], value);

// A text that is shown or copied without a context.
let text = '';
const sheet = contextManager({
    getItems: () => [],
    setItems: () => {},
    nextIntegerId,
    prompt: () => ({ template: '{{ text }}', data: { text } }),
});
const manager = contextManager({
    getItems: () => state.get(shared.contextItems),
    setItems: (items) => state.set(shared.contextItems, items),
    nextIntegerId,
    prompt: request,
});
const base = manager.commands;

const metaTemplate = () => get('template') ?? PROMPTS.flowMeta;

// The template and data of the current phase.
function request() {
    if (get('phase') === TASK_PROMPT_SET) {
        return { template: PROMPTS.flowFinal, data: { prompt: get('taskPrompt'), footer: get('footer') } };
    }
    if (get('goal') !== '') {
        return { template: metaTemplate(), data: { goal: get('goal') } };
    }
    return { template: '{{ context }}', data: {} };
}

const USAGES = {
    goal: 'goal [text | --prewritten | use:NAME]',
    use: 'use [text]',
    footer: 'footer [text | --clear]',
};

// The text after a command, or the text from the editor.
function typed(command, args, hint, before) {
    texts.refuseOption(command, USAGES[command], args);
    return (args.length > 0 ? texts.typed(args) : openEditor(hint, before)).trim();
}

function setGoal(value) {
    if (value === '') {
        throw new Error("the goal is empty; set it with 'goal TEXT'");
    }
    set('goal', value);
    if (get('phase') === INITIAL) {
        set('phase', CONTEXT_BUILDING);
    }
}

function goal(args) {
    if (args.length === 1 && args[0] === '--prewritten') {
        output.print('Prewritten goals:');
        for (const [name, about] of Object.entries(PREWRITTEN)) {
            output.print(`  goal use:${name.padEnd(17)} ${about.split(/[,:.] /)[0]}`);
        }
        return undefined;
    }
    if (args.length === 1 && args[0].startsWith('use:')) {
        const name = args[0].slice('use:'.length);
        if (!Object.hasOwn(PREWRITTEN, name)) {
            throw new Error(`goal: unknown prewritten goal '${__osm.oneLine(name)}'; prewritten goals: ${Object.keys(PREWRITTEN).join(', ')}`);
        }
        setGoal(PREWRITTEN[name]);
        return output.tell(`Goal set: ${name}`);
    }
    setGoal(typed('goal', args, 'goal', get('goal')));
    return output.tell('Goal set.');
}

function template(args) {
    const [what = 'edit', ...more] = args;
    if (more.length > 0 || !['edit', 'reset'].includes(what)) {
        throw new Error('template: usage: template [edit | reset]');
    }
    if (what === 'reset') {
        set('template', null);
        return output.tell('Template reset.');
    }
    const edited = openEditor('template.md', metaTemplate());
    templates.check(edited);
    set('template', edited === PROMPTS.flowMeta ? null : edited);
    return output.tell('Template updated.');
}

function makeMeta() {
    if (get('goal') === '') {
        throw new Error("no goal set; use 'goal TEXT', or list goals with 'goal --prewritten'");
    }
    const made = native.prompt({ template: metaTemplate(), data: { goal: get('goal') }, items: manager.getItems() });
    set('metaPrompt', made.text);
    set('taskPrompt', '');
    set('phase', META_GENERATED);
}

function generate(args) {
    if (args.length > 0) {
        throw new Error("generate takes no arguments; set the goal with 'goal', add files with 'add'");
    }
    makeMeta();
    output.tell("Meta-prompt generated. 'copy' it to a model, then set the model's prompt with 'use'.");
}

function use(args) {
    const value = typed('use', args, 'prompt.md', get('taskPrompt'));
    if (value === '') {
        throw new Error("the prompt is empty; set it with 'use TEXT'");
    }
    set('taskPrompt', value);
    set('phase', TASK_PROMPT_SET);
    output.tell("Task prompt set. Get the final prompt with 'show' or 'copy'.");
}

function footer(args) {
    const isClearing = args.length === 1 && args[0] === '--clear';
    const value = isClearing ? '' : typed('footer', args, 'footer', get('footer'));
    set('footer', value);
    output.tell(value === '' ? 'Footer cleared.' : 'Footer set. It ends the final prompt.');
}

function brief(value) {
    const line = __osm.oneLine(value.replace(/\s+/g, ' ').trim());
    return line.length > 80 ? `${line.slice(0, 80)}...` : line;
}

function list(args) {
    if (args.length > 0) {
        return base.list.handler(args);
    }
    output.print(`Phase: ${get('phase')}`);
    const shown = { goal: 'goal', metaPrompt: 'meta', taskPrompt: 'prompt', footer: 'footer' };
    for (const [name, label] of Object.entries(shown)) {
        if (get(name) !== '') {
            output.print(`[${label}] ${brief(get(name))}`);
        }
    }
    if (get('template') !== null) {
        output.print('[template] edited');
    }
    output.print('');
    return base.list.handler([]);
}

function need(name, what, next) {
    if (get(name) === '') {
        throw new Error(`no ${what} yet; ${next}`);
    }
    return get(name);
}

// Texts that can be shown and copied by name.
const NAMED = {
    meta: () => need('metaPrompt', 'meta-prompt', "create it with 'generate'"),
    prompt: () => need('taskPrompt', 'task prompt', "set it with 'use TEXT'"),
};

const EDITORS = {
    goal: () => goal([]),
    template: () => template([]),
    meta: () => {
        set('metaPrompt', openEditor('meta.md', NAMED.meta()));
        output.tell('Meta-prompt updated.');
    },
    prompt: () => {
        NAMED.prompt();
        use([]);
    },
};

function edit(args) {
    const [what] = args;
    if (args.length === 1 && Object.hasOwn(EDITORS, what)) {
        return EDITORS[what]();
    }
    if (args.length === 1 && /^\[?\d+\]?$/.test(what)) {
        return base.edit.handler(args);
    }
    throw new Error('edit: usage: edit goal | template | meta | prompt | ID');
}

// Shows or copies the named text, or the text of the current phase.
function present(command, args) {
    const [what, ...more] = args.filter((arg) => !arg.startsWith('--'));
    const flags = args.filter((arg) => arg.startsWith('--'));
    if (more.length > 0 || (what !== undefined && !Object.hasOwn(NAMED, what))) {
        throw new Error(`${command}: usage: ${command === 'show' ? 'show [--json]' : command} [meta | prompt]`);
    }
    const isMeta = what === undefined && get('phase') === META_GENERATED;
    if (what === undefined && get('phase') === INITIAL && manager.getItems().length === 0) {
        throw new Error(`${command}: nothing to ${command} yet; begin with 'goal TEXT' and 'add FILES'`);
    }
    if (what === undefined && !isMeta) {
        return base[command].handler(flags);
    }
    text = NAMED[what ?? 'meta']();
    return sheet.commands[command].handler(flags);
}

function copy(args) {
    if (args.length === 0 && get('phase') === CONTEXT_BUILDING) {
        makeMeta();
        output.tell('(The meta-prompt was generated first.)');
    }
    return present('copy', args);
}

tui.registerCompleter('flow-part', () => Object.keys(NAMED).map((name) => ({ text: name })));
tui.registerCompleter('flow-goal', () => [
    { text: '--prewritten', description: 'List prewritten goals' },
    ...Object.keys(PREWRITTEN).map((name) => ({ text: `use:${name}` })),
]);
tui.registerMode({
    name: MODE,
    tui: { title: 'Prompt flow', prompt: '(prompt-flow) > ' },
    onEnter() {
        manager.rehydrate();
        output.tell("Type 'help' for commands. Try 'goal TEXT', 'add FILES', 'generate'; 'goal --prewritten' lists goals.");
    },
    commands: {
        goal: { description: 'Set the goal; without text, open the editor', usage: USAGES.goal, argCompleters: ['flow-goal'], takesText: true, handler: goal },
        ...base,
        list: { ...base.list, description: 'Show the phase, the texts and the items', handler: list },
        edit: { ...base.edit, description: 'Edit a text or an item', usage: 'edit goal | template | meta | prompt | ID', handler: edit },
        template: { description: 'Edit the template of the meta-prompt', usage: 'template [edit | reset]', handler: template },
        generate: { description: 'Build the meta-prompt from the goal and the context', usage: 'generate', handler: generate },
        use: { description: 'Set the prompt that the model wrote; without text, open the editor', usage: USAGES.use, takesText: true, handler: use },
        footer: { description: 'Set the last paragraph of the final prompt', usage: USAGES.footer, takesText: true, handler: footer },
        show: { ...base.show, usage: 'show [--json] [meta | prompt]', argCompleters: ['flow-part', 'flag'], handler: (args) => present('show', args) },
        copy: { ...base.copy, usage: 'copy [meta | prompt]', argCompleters: ['flow-part'], handler: copy },
    },
});
