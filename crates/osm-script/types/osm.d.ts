// What a script of osm finds: globals, and modules for `require`.
//
// For an editor to know it, begin a script with
//
//     // @ts-check
//     /// <reference path="…/osm.d.ts" />
//
// A test holds this file to what is really there: everything, and nothing else.

/** What can be kept: null, true, a finite number, a text, arrays and plain objects of them. */
type OsmJson = null | boolean | number | string | OsmJson[] | { [key: string]: OsmJson };

// ---------------------------------------------------------------- globals

/** The arguments of the script. */
declare const args: readonly string[];

/** What a script prints. */
declare const output: OsmOutput;
interface OsmOutput {
    /** Prints values, with spaces between them, as a line. */
    print(...values: unknown[]): void;
    /** Prints by a pattern: %s %d %f %v %q %j %x %t %%, with widths and precisions. */
    printf(pattern: string, ...values: unknown[]): void;
    /** Says that something was done: to the user, and never into a file with the results. */
    tell(...values: unknown[]): void;
    toClipboard(text: string): void;
    fromClipboard(): string;
}

/** What a script notes for whoever looks for a fault. */
declare const log: OsmLog;
interface OsmLog {
    debug(message: unknown, attributes?: object): void;
    info(message: unknown, attributes?: object): void;
    warn(message: unknown, attributes?: object): void;
    error(message: unknown, attributes?: object): void;
    printf(pattern: string, ...values: unknown[]): void;
    /** The last messages; all that are kept without a count. */
    getLogs(count?: number): OsmLogEntry[];
    searchLogs(text: string): OsmLogEntry[];
    clearLogs(): void;
}
interface OsmLogEntry {
    time: string;
    level: 'debug' | 'info' | 'warn' | 'error';
    message: string;
    attrs: object;
}

declare var console: Console;
interface Console {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    debug(...values: unknown[]): void;
    /** Shown, but no result. */
    warn(...values: unknown[]): void;
    /** Shown, but no result. */
    error(...values: unknown[]): void;
}

/** The script as a test of itself. */
declare const ctx: OsmCtx;
interface OsmCtx {
    /** Runs a part. Whether it passed. */
    run(name: string, part: () => void): boolean;
    /** Does something at the end, the last first. */
    defer(later: () => void): void;
    log(...values: unknown[]): void;
    logf(pattern: string, ...values: unknown[]): void;
    error(...values: unknown[]): void;
    errorf(pattern: string, ...values: unknown[]): void;
    fatal(...values: unknown[]): never;
    fatalf(pattern: string, ...values: unknown[]): never;
    failed(): boolean;
    name(): string;
}

/** Files and folders that the script has picked. Nothing is read before it is asked for. */
declare const context: OsmContext;
interface OsmContext {
    /** Picks a file, a folder, or what a pattern matches. */
    addPath(path: string): void;
    /** Drops what was picked under a path, a label, or a name that only one has. */
    removePath(path: string): void;
    listPaths(): string[];
    getPath(path: string): OsmPicked | null;
    /** Throws if it is no longer there. */
    refreshPath(path: string): void;
    /** All files that were picked, in one text. */
    toTxtar(): string;
    /** The files in such a text. They are not picked: they are on no disk. */
    fromTxtar(text: string): { name: string; content: string }[];
    getStats(): { totalPaths: number; files: number; directories: number; totalSize: number };
    filterPaths(pattern: string): string[];
    getFilesByExt(extension: string): string[];
}
interface OsmPicked {
    path: string;
    label: string;
    type: 'file' | 'directory';
    size: number;
    files: string[];
}

/** Modes, their commands, and state that outlives the script. */
declare const tui: OsmTui;
interface OsmTui {
    /** Registers a mode, in the place of one with the same name. */
    registerMode(mode: OsmMode): void;
    /** Leaves the current mode and enters another. If that fails, we stay. */
    switchMode(name: string): Promise<void> | void;
    /** The name of the current mode; empty if there is none. */
    getCurrentMode(): string;
    listModes(): string[];
    /** Registers a command that every mode has. */
    registerCommand(command: OsmCommand & { name: string }): void;
    /** Declares state: `{ [Symbol('name')]: { defaultValue } }`. */
    createState(name: string, definitions: OsmDefinitions): OsmState;
    /** Is told of keys that another process changed, or that were taken back. Gives what ends that. */
    onStateChange(listener: (keys: OsmStateKey[]) => unknown): () => void;
    /** Puts all state that was declared back to its defaults. */
    reset(): void;
    /** Makes a prompt; gives its name. */
    createPrompt(prompt: OsmPrompt): string;
    /** Reads lines until there are no more, the handler gives `false`, or an exit is asked for. */
    runPrompt(name: string): Promise<void>;
    registerCompleter(name: string, completer: (document: OsmDocument) => OsmOffers | Promise<OsmOffers>): void;
    /** Gives a prompt or a mode a completer. */
    setCompleter(name: string, completer: string): void;
    registerKeyBinding(key: string, handler: () => unknown): void;
    requestExit(): void;
    isExitRequested(): boolean;
    clearExitRequest(): void;
}
interface OsmMode {
    name: string;
    tui?: { title?: string; prompt?: string };
    /** A line that is run on entering. */
    initialCommand?: string;
    multiline?: boolean;
    onEnter?: () => unknown;
    onExit?: () => unknown;
    /** Its commands by name, or a function that gives them on entering. */
    commands?: OsmCommands | (() => OsmCommands);
}
type OsmHandler = (args: string[]) => unknown;
type OsmCommands = Record<string, OsmCommand | OsmHandler | undefined> | Map<string, OsmCommand | OsmHandler>;
interface OsmCommand {
    description?: string;
    usage?: string;
    /** file, gitref, executable, flag, item, or one of registerCompleter. */
    argCompleters?: string[];
    flagDefs?: { name: string; description?: string }[];
    /** What it promises is waited for; what it throws is shown, and takes back what it changed. */
    handler: OsmHandler;
}
interface OsmPrompt {
    name?: string;
    title?: string;
    prefix?: string;
    /** Takes a line. Without one, a line is a command. */
    handler?: (line: string) => unknown;
    [setting: string]: unknown;
}
type OsmOffers = (string | { text: string; description?: string })[];
interface OsmDefinitions {
    [symbol: symbol]: { defaultValue?: unknown };
    /** Only a symbol counts here. */
    [name: string]: unknown;
}
interface OsmState {
    /** A copy of the value; the default if nothing is kept. */
    get(symbol: symbol): any;
    /** Keeps a value. Throws, and keeps nothing, if JSON cannot hold it. A Date is kept as its text. */
    set(symbol: symbol, value: unknown): void;
    /** Back to the default: one symbol, or all. */
    reset(symbol?: symbol): void;
    /** Is told when another process changed the value, or when it was taken back. Gives what ends that. */
    observe(symbol: symbol, observer: (value: any, symbol: symbol) => unknown): () => void;
}
type OsmStateKey = { shared: string } | { command: string; name: string };
/** What is being typed. */
interface OsmDocument {
    getText(): string;
    getTextBeforeCursor(): string;
    getTextAfterCursor(): string;
    getWordBeforeCursor(): string;
    getWordAfterCursor(): string;
    getCurrentLine(): string;
    getCurrentLineBeforeCursor(): string;
    getCurrentLineAfterCursor(): string;
    getCursorPositionCol(): number;
    getCursorPositionRow(): number;
    getLines(): string[];
    getLineCount(): number;
    onLastLine(): boolean;
    /** 0 is the character before the cursor, 1 the one after it. */
    getCharRelativeToCursor(offset: number): string;
}

declare function require(name: string): any;
declare function setTimeout(callback: (...rest: any[]) => unknown, delay?: number, ...rest: any[]): number;
declare function setInterval(callback: (...rest: any[]) => unknown, delay?: number, ...rest: any[]): number;
declare function setImmediate(callback: (...rest: any[]) => unknown, ...rest: any[]): number;
declare function clearTimeout(id: number | undefined): void;
declare function clearInterval(id: number | undefined): void;
declare function clearImmediate(id: number | undefined): void;
declare function queueMicrotask(callback: () => unknown): void;

// ---------------------------------------------------------------- modules

/** Lines and words. */
declare module 'osm:argv' {
    export function parseArgv(line: string): string[];
    export function formatArgv(words: string[]): string;
}

/** Files, as the program knows them. Everything below stands on it; scripts seldom need it. */
declare module 'osm:context' {
    interface Stats {
        bytes: number;
        lines: number;
        tokens: number | null;
        budget: number | null;
        files: number;
    }
    interface Request {
        template: string;
        data: object;
        items: import('osm:ctxutil').Item[];
    }
    interface Described {
        id: number;
        type: string;
        label: string;
        missing: boolean;
        folder: boolean;
        files: number;
        bytes: number;
        lines: number;
        tokens: number | null;
        skipped: { path: string; reason: string }[];
    }
    export function resolve(paths: string[]): {
        found: { path: string; label: string; folder: boolean }[];
        failed: { path: string; message: string }[];
        skipped: { path: string; reason: string }[];
    };
    export function changed(args: string[]): {
        paths: string[];
        skipped: { path: string; reason: string }[];
        error: string | null;
    };
    export function describe(items: import('osm:ctxutil').Item[]): Described[];
    /** The ids of the items whose files or folders are not there; nothing is read for it. */
    export function missing(items: import('osm:ctxutil').Item[]): number[];
    export function build(items: import('osm:ctxutil').Item[]): {
        text: string;
        stats: Stats;
        skipped: { path: string; reason: string }[];
    };
    export function show(request: Request): Stats;
    export function copy(request: Request): Stats;
    export function prompt(request: Request): { text: string; stats: Stats };
    export function count(text: string): number;
    export function folder(): string;
    export function files(paths: string[]): { path: string; label: string; size: number }[];
    export function txtar(paths: string[]): string;
    export function fromTxtar(text: string): { name: string; content: string }[];
}

/** Digests, in hexadecimal. */
declare module 'osm:crypto' {
    export function sha256(text: string): string;
    export function hmacSHA256(key: string, text: string): string;
}

/** The context of a prompt, and the commands with which people work on it. */
declare module 'osm:ctxutil' {
    /** A thing that a prompt is made of. Fields that nobody knows are kept. */
    interface Item {
        id: number;
        type: 'file' | 'note' | 'diff' | 'lazy-diff' | 'lazy-exec' | (string & {});
        label: string;
        path?: string;
        folder?: string;
        payload?: any;
        [more: string]: unknown;
    }
    interface Options {
        /** Without getItems and setItems: the shared contextItems. */
        getItems?: () => Item[];
        setItems?: (items: Item[]) => void;
        nextIntegerId?: (items: Item[]) => number;
        /** The template of the prompt, for the program to fill: `context` is all items. */
        prompt?: () => { template?: string; data?: object };
        /** Or the whole prompt, made by the script. */
        buildPrompt?: () => string | Promise<string>;
        postCopyHint?: string;
    }
    type Name = 'add' | 'diff' | 'exec' | 'note' | 'list' | 'edit' | 'remove' | 'show' | 'copy';
    interface Manager {
        commands: Record<Name, OsmCommand>;
        getItems(): Item[];
        setItems(items: Item[]): void;
        /** Adds an item; gives its id, which is never given twice. */
        addItem(type: string, label: string, payload?: unknown, more?: object): number;
        removeItem(id: number): void;
        /** Tells what an earlier command has left here, and what of it is missing. */
        rehydrate(): { items: number; files: number; missing: number[] };
        buildPrompt(): string | Promise<string>;
    }
    export function buildContext(items: Item[], options?: { toTxtar?: () => string }): string;
    export function contextManager(options?: Options): Manager;
}

/** base64 and hexadecimal, of text. */
declare module 'osm:encoding' {
    export function base64Encode(text: string): string;
    export function base64Decode(text: string): string;
    export function base64URLEncode(text: string): string;
    export function base64URLDecode(text: string): string;
    export function hexEncode(text: string): string;
    export function hexDecode(text: string): string;
}

/** Programs, run to their end. One that fails is an answer and no exception. */
declare module 'osm:exec' {
    interface Finished {
        stdout: string;
        stderr: string;
        code: number;
        error: boolean;
        message: string;
    }
    export function exec(program: string, ...args: string[]): Finished;
    export function execv(words: string[]): Finished;
}

/** Flags of a script's arguments. */
declare module 'osm:flag' {
    interface Flag {
        name: string;
        kind: 'string' | 'int' | 'bool' | 'float64';
        usage: string;
        defValue: any;
        value: any;
        isSet: boolean;
    }
    interface FlagSet {
        name: string;
        string(name: string, value: string, usage?: string): void;
        int(name: string, value: number, usage?: string): void;
        bool(name: string, value: boolean, usage?: string): void;
        float64(name: string, value: number, usage?: string): void;
        parse(args: readonly string[]): null;
        get(name: string): any;
        args(): string[];
        nArg(): number;
        nFlag(): number;
        lookup(name: string): Flag | null;
        defaults(): string;
        visit(each: (flag: Flag) => void): void;
        visitAll(each: (flag: Flag) => void): void;
    }
    export function newFlagSet(name: string): FlagSet;
}

/** Numbers as people read them. */
declare module 'osm:format' {
    export function formatNum(number: number): string;
    export function formatBytes(bytes: number): string;
}

/** JSON, and working with what was read. */
declare module 'osm:json' {
    export function parse(text: string): any;
    export function stringify(value: unknown, indent?: number): string;
    /** The value at a path such as a.b[0].c */
    export function query(value: unknown, path: string): any;
    export function mergePatch(target: unknown, patch: unknown): any;
    export function diff(before: unknown, after: unknown): { op: 'add' | 'remove' | 'replace'; path: string; value?: any }[];
    export function flatten(value: unknown, between?: string): Record<string, any>;
    export function unflatten(flat: Record<string, unknown>, between?: string): any;
}

/** The number after the greatest id in a list. */
declare module 'osm:nextIntegerId' {
    interface NextIntegerId {
        (list: readonly { id?: unknown }[] | null | undefined): number;
        default: NextIntegerId;
    }
    const nextIntegerId: NextIntegerId;
    export = nextIntegerId;
}
declare module 'osm:nextIntegerID' {
    import nextIntegerId = require('osm:nextIntegerId');
    export = nextIntegerId;
}

/** Files, variables, the editor, the clipboard. */
declare module 'osm:os' {
    interface Writing {
        /** Who may do what with it: 0o600 unless something is said. */
        mode?: number;
        createDirs?: boolean;
    }
    export function readFile(path: string): { content: string; error: boolean; message: string };
    export function writeFile(path: string, text: string, options?: Writing): void;
    export function appendFile(path: string, text: string, options?: Writing): void;
    export function fileExists(path: string): boolean;
    export function isAbsolute(path: string): boolean;
    export function join(...parts: string[]): string;
    export function platform(): string;
    export function getenv(name: string): string;
    /** Lets the user edit a text; the hint says what it is. */
    export function openEditor(hint?: string, text?: string): string;
    export function clipboardCopy(text: string): void;
    export function clipboardPaste(): string;
}

/** Paths. */
declare module 'osm:path' {
    export function join(...parts: string[]): string;
    export function dir(path: string): string;
    export function base(path: string): string;
    export function ext(path: string): string;
    export function abs(path: string): string;
    export function rel(from: string, to: string): string;
    export function clean(path: string): string;
    export function isAbs(path: string): boolean;
    export function match(pattern: string, name: string): boolean;
    /** The files that a pattern matches. */
    export function glob(pattern: string): string[];
    export const separator: string;
    export const listSeparator: string;
}

/** Symbols that name state which commands share. */
declare module 'osm:sharedStateSymbols' {
    /** What the prompts of all modes are made of. */
    export const contextItems: unique symbol;
    /** The symbol of a shared key: the same one for everybody who names it. */
    export function define(name: string): symbol;
}

/** Templates: MiniJinja. */
declare module 'osm:template' {
    interface Template {
        name(): string;
        parse(text: string): Template;
        execute(data?: object): string;
    }
    /** Fills a template. A name that the data does not have is an error. */
    export function render(text: string, data?: object): string;
    /** Throws if a template cannot be parsed. */
    export function check(text: string): void;
    function create(name: string): Template;
    export { create as new };
}

declare module 'osm:time' {
    /** Waits, at most a minute. */
    export function sleep(milliseconds: number): void;
}

/** How long a text is. */
declare module 'osm:tokenizer' {
    export function count(text: string): number;
    export function byteCount(text: string): number;
    export function lineCount(text: string): number;
}
