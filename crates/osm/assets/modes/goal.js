// The mode of a goal. GOAL_CONFIG is the goal: the `Goal` of goals.rs.
'use strict';
const { contextManager } = require('osm:ctxutil');
const nextIntegerId = require('osm:nextIntegerId');
const { refuseOption, typed } = require('osm:ctxutil/texts');
const { openEditor } = require('osm:os');
const shared = require('osm:sharedStateSymbols');
const templates = require('osm:template');

const goal = GOAL_CONFIG;

const stateKeys = { contextItems: shared.contextItems };
const definitions = { [shared.contextItems]: { defaultValue: [] } };
for (const variable of goal.variables) {
    const symbol = Symbol(variable.name);
    stateKeys[variable.name] = symbol;
    definitions[symbol] = { defaultValue: variable.default };
}
const state = tui.createState(goal.name, definitions);

// The stored value, unless it is no longer among the choices.
function valueOf(variable) {
    const value = state.get(stateKeys[variable.name]);
    const isGone = variable.choices.length > 0 && !variable.choices.includes(value);
    return isGone ? variable.default : (value ?? variable.default);
}

// The data of the goal's templates.
function data() {
    const values = { ...goal.data, name: goal.name, title: goal.title, description: goal.description };
    values.stateKeys = {};
    for (const variable of goal.variables) {
        const value = valueOf(variable) ?? '';
        values.stateKeys[variable.name] = value;
        values[variable.name] = value;
        values[variable.key] = value;
    }
    // A text for the value of a variable: typeInstructions for `type`.
    for (const [name, texts] of Object.entries(goal.options)) {
        const value = values.stateKeys[name.replace(/Instructions$/, '')];
        values[name] = texts?.[value] ?? '';
    }
    return values;
}

const manager = contextManager({
    getItems: () => state.get(shared.contextItems),
    setItems: (items) => state.set(shared.contextItems, items),
    nextIntegerId,
    postCopyHint: goal.postCopyHint ?? undefined,
    prompt: () => ({ template: goal.template, data: data(), name: `${goal.source}: template` }),
});

// A command that shows and sets a variable.
function setter(variable) {
    const { name, choices } = variable;
    const usage = `${variable.setter} [${choices.length > 0 ? choices.join(' | ') : 'text | --clear'}]`;
    const handler = (args) => {
        if (choices.length > 0 && args.length === 0) {
            output.print(`${name}: ${valueOf(variable)}`);
            return output.print(`Choices: ${choices.join(', ')}`);
        }
        const isClearing = args.length === 1 && args[0] === '--clear';
        if (choices.length === 0 && !isClearing) {
            refuseOption(variable.setter, usage, args);
        }
        const given = () => (choices.length > 0 ? args.join(' ') : typed(args));
        const text = args.length > 0 ? given() : openEditor(name, String(valueOf(variable) ?? '')).trim();
        const value = isClearing ? '' : text;
        if (choices.length > 0 && !choices.includes(value)) {
            throw new Error(`${name}: invalid value '${__osm.oneLine(value)}'; choices: ${choices.join(', ')}`);
        }
        state.set(stateKeys[name], value);
        return output.tell(value === '' ? `${name} cleared.` : `${name} set${choices.length > 0 ? ` to: ${value}` : '.'}`);
    };
    const completer = `goal-${name}`;
    tui.registerCompleter(completer, () => choices.map((text) => ({ text })));
    return choices.length > 0
        ? { description: `Set ${name}: ${choices.join(', ')}`, usage, argCompleters: [completer], handler }
        : { description: `Set ${name}; without text, open the editor`, usage, takesText: true, handler };
}

// Whether the same diff was added already.
function isThere(args) {
    const same = (item) => item.type === 'lazy-diff' && JSON.stringify(item.payload) === JSON.stringify(args);
    return manager.getItems().some(same);
}

const RUNS = {
    files: {
        description: 'Add files and show the prompt',
        usage: 'run [path…]',
        argCompleters: ['file'],
        handler: (args) => {
            if (args.length > 0) {
                manager.commands.add.handler(args);
            }
            return manager.commands.show.handler([]);
        },
    },
    diff: {
        description: 'Add a git diff and show the prompt',
        usage: 'run [arguments of git diff]',
        argCompleters: ['gitref', 'flag'],
        flagDefs: [{ name: 'staged', description: 'Only staged changes' }],
        handler: (args) => {
            if (!isThere(args)) {
                manager.commands.diff.handler(args);
            }
            return manager.commands.show.handler([]);
        },
    },
};

// A command with code of the goal: a function that sees the names of `scope`.
function custom({ name, description, usage, argCompleters, flagDefs, handler }) {
    const scope = { output, tui, ctxmgr: manager, state, stateKeys, buildPrompt: manager.buildPrompt };
    let run;
    try {
        run = new Function(...Object.keys(scope), `return (${handler}\n);`)(...Object.values(scope));
    } catch (error) {
        throw new Error(`the goal '${goal.name}': the handler of '${name}' is not a function: ${error.message}`);
    }
    if (typeof run !== 'function') {
        throw new Error(`the goal '${goal.name}': the handler of '${name}' must be a function (args) { … }`);
    }
    return { description, usage, argCompleters, flagDefs, handler: run };
}

function snippets() {
    if (goal.snippets.length === 0) {
        return output.tell('This goal has no snippets.');
    }
    for (const { name, text, description } of goal.snippets) {
        const about = description || (text.length > 60 ? `${text.slice(0, 60)}...` : text);
        output.print(`hot-${name}: ${about.replace(/\s+/g, ' ')}`);
    }
    return undefined;
}

function snippet({ name, text, description }) {
    const handler = () => {
        output.toClipboard(text);
        output.tell(`Copied snippet '${name}'.`);
    };
    return { description: description || 'Copy a snippet', usage: `hot-${name}`, handler };
}

function commands() {
    const all = {};
    for (const name of goal.commands) {
        all[name] = manager.commands[name];
    }
    if (goal.run !== null) {
        all.run = RUNS[goal.run];
    }
    for (const variable of goal.variables.filter((each) => each.setter !== null)) {
        all[variable.setter] = setter(variable);
    }
    for (const handler of goal.handlers) {
        all[handler.name] = custom(handler);
    }
    for (const each of goal.snippets) {
        all[`hot-${each.name}`] = snippet(each);
    }
    if (goal.snippets.length > 0) {
        all.snippets = { description: 'List snippets', usage: 'snippets', handler: snippets };
    }
    if (goal.usage !== null) {
        all.usage = { description: 'Show how to use this goal', usage: 'usage', handler: () => output.print(templates.render(goal.usage, data(), `${goal.source}: usage`)) };
    }
    return all;
}

function banner() {
    if (goal.banner !== null) {
        return templates.render(goal.banner, data(), `${goal.source}: banner`);
    }
    const values = goal.variables.map((variable) => [variable.name, valueOf(variable)]);
    const said = values.filter(([, value]) => typeof value === 'string' && value !== '' && value.length <= 40);
    const shown = said.map(([name, value]) => `${name}=${__osm.oneLine(value)}`).join(' ');
    return `${goal.title}: ${goal.description}${shown === '' ? '' : ` (${shown})`}`;
}

tui.registerMode({
    name: goal.name,
    tui: { title: goal.title, prompt: goal.prompt },
    onEnter() {
        output.tell(banner());
        manager.rehydrate();
        output.tell("Type 'help' for commands.");
    },
    commands,
});
