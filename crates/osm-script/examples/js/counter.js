// @ts-check
/// <reference path="../../types/osm.d.ts" />
// A mode with state of its own: it counts, and goes on counting the next time.

const count = Symbol('count');
const state = tui.createState('counter', { [count]: { defaultValue: 0 } });

/** @param {string | undefined} word */
function step(word) {
    const number = word === undefined ? 1 : Number(word);
    if (!Number.isInteger(number)) {
        throw new Error(`'${word}' is no whole number`);
    }
    return number;
}

tui.registerMode({
    name: 'counter',
    tui: { title: 'Counter', prompt: '(counter) > ' },
    onEnter: () => output.print(`The count is ${state.get(count)}.`),
    commands: {
        up: {
            description: 'Count up',
            usage: 'up [by]',
            handler: ([word]) => {
                state.set(count, state.get(count) + step(word));
                output.print(state.get(count));
            },
        },
        zero: { description: 'Begin again', handler: () => state.reset(count) },
    },
});
