// @ts-check
/// <reference path="../../types/osm.d.ts" />
// A list that all of your terminals share: a shared key of our own, and an observer.

const { define } = require('osm:sharedStateSymbols');
const nextIntegerId = require('osm:nextIntegerId');

/** @typedef {{ id: number, text: string, done: boolean }} Task */

const tasks = define('example.tasks');
const state = tui.createState('todo', { [tasks]: { defaultValue: [] } });
/** @returns {Task[]} */
const all = () => state.get(tasks);

state.observe(tasks, (list) => output.print(`Somebody else changed the list: ${list.length} tasks now.`));

tui.registerMode({
    name: 'todo',
    commands: {
        add: {
            usage: 'add <text>',
            handler: (words) => {
                const task = { id: nextIntegerId(all()), text: words.join(' '), done: false };
                state.set(tasks, [...all(), task]);
                output.print(`Added [${task.id}]`);
            },
        },
        done: {
            usage: 'done <id>',
            handler: ([id]) => {
                const list = all();
                const task = list.find((each) => each.id === Number(id));
                if (task === undefined) {
                    throw new Error(`there is no task [${id}]`);
                }
                task.done = true;
                state.set(tasks, list);
            },
        },
        list: {
            handler: () => all().forEach(({ id, text, done }) => output.print(`[${id}] ${done ? 'x' : ' '} ${text}`)),
        },
    },
});
