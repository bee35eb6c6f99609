// The globals of a script, and the modules for `require`.
//
// To use this file in an editor, begin a script with
//
//     // @ts-check
//     /// <reference path="…/osm.d.ts" />
//
// A test checks that this file declares exactly what exists.

/** Values that can be stored: null, booleans, finite numbers, strings, and arrays and plain objects of them. */
type OsmJson = null | boolean | number | string | OsmJson[] | { [key: string]: OsmJson };

// ---------------------------------------------------------------- globals

/** The arguments of the script. */
declare const args: readonly string[];

/** Output of a script. */
declare const output: OsmOutput;
interface OsmOutput {
    /** Prints values, separated by spaces, as a line on standard output. */
    print(...values: unknown[]): void;
    /** Prints a formatted line: %s %d %f %v %q %j %x %t %%, with widths and precisions. */
    printf(pattern: string, ...values: unknown[]): void;
    /** Prints a message for the user on standard error. */
    tell(...values: unknown[]): void;
    toClipboard(text: string): void;
    fromClipboard(): string;
}

/** The log of osm. */
declare const log: OsmLog;
interface OsmLog {
    debug(message: unknown, attributes?: object): void;
    info(message: unknown, attributes?: object): void;
    warn(message: unknown, attributes?: object): void;
    error(message: unknown, attributes?: object): void;
    printf(pattern: string, ...values: unknown[]): void;
    /** The last `count` messages; without a count, all that are kept (at most 1000). */
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
    /** Prints to standard error. */
    warn(...values: unknown[]): void;
    /** Prints to standard error. */
    error(...values: unknown[]): void;
}

/** Tests in a script (`osm script --test`). */
declare const ctx: OsmCtx;
interface OsmCtx {
    /** Runs a sub-test; returns whether it passed. */
    run(name: string, part: () => void): boolean;
    /** Runs a function at the end; the last one first. */
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

/** Files and folders that the script has added. They are read when they are needed. */
declare const context: OsmContext;
interface OsmContext {
    /** Adds a file, a folder, or the matches of a pattern. */
    addPath(path: string): void;
    /** Removes the entry of a path, a label, or an unambiguous file name. */
    removePath(path: string): void;
    listPaths(): string[];
    getPath(path: string): OsmPicked | null;
    /** Throws if the file no longer exists. */
    refreshPath(path: string): void;
    /** All added files in one text. */
    toTxtar(): string;
    /** The files of such a text; they are not added. */
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

/** Modes, commands, and persistent state. */
declare const tui: OsmTui;
interface OsmTui {
    /** Registers a mode; replaces one with the same name. */
    registerMode(mode: OsmMode): void;
    /** Leaves the current mode and enters another. If that fails, the current mode stays. */
    switchMode(name: string): Promise<void> | void;
    /** The name of the current mode; empty outside modes. */
    getCurrentMode(): string;
    listModes(): string[];
    /** Registers a command for all modes. */
    registerCommand(command: OsmCommand & { name: string }): void;
    /** Declares state: `{ [Symbol('name')]: { defaultValue } }`. */
    createState(name: string, definitions: OsmDefinitions): OsmState;
    /** Calls the listener when another process changes keys, or changes are discarded. Returns a function that ends it. */
    onStateChange(listener: (keys: OsmStateKey[]) => unknown): () => void;
    /** Resets all declared state to its defaults. */
    reset(): void;
    /** Creates a prompt; returns its name. */
    createPrompt(prompt: OsmPrompt): string;
    /** Reads lines until the end, until the handler returns `false`, or until an exit is requested. */
    runPrompt(name: string): Promise<void>;
    registerCompleter(name: string, completer: (document: OsmDocument) => OsmOffers | Promise<OsmOffers>): void;
    /** Sets the completer of a prompt or a mode. */
    setCompleter(name: string, completer: string): void;
    registerKeyBinding(key: string, handler: () => unknown): void;
    requestExit(): void;
    isExitRequested(): boolean;
    clearExitRequest(): void;
}
interface OsmMode {
    name: string;
    tui?: { title?: string; prompt?: string };
    /** A command that runs after entering. */
    initialCommand?: string;
    multiline?: boolean;
    onEnter?: () => unknown;
    onExit?: () => unknown;
    /** The commands by name, or a function that returns them when the mode is entered. */
    commands?: OsmCommands | (() => OsmCommands);
}
/** The words after the name of the command; `text` is the same as it was typed, `state` the state with the name of the mode. */
type OsmHandler = (args: string[] & { readonly state: OsmState; readonly text: string }) => unknown;
type OsmCommands = Record<string, OsmCommand | OsmHandler | undefined> | Map<string, OsmCommand | OsmHandler>;
interface OsmCommand {
    description?: string;
    usage?: string;
    /** file, gitref, executable, flag, item, or the name of a registered completer. */
    argCompleters?: string[];
    flagDefs?: { name: string; description?: string }[];
    /** The rest of the line is a text: quotes and backslashes have no meaning, and pasted lines belong to it. */
    takesText?: boolean;
    /** osm waits for its promise. If it throws, osm shows the error and discards its changes. */
    handler: OsmHandler;
}
interface OsmPrompt {
    name?: string;
    title?: string;
    prefix?: string;
    /** Handles a line. Without a handler, a line is a command. */
    handler?: (line: string) => unknown;
    [setting: string]: unknown;
}
type OsmOffers = (string | { text: string; description?: string })[];
interface OsmDefinitions {
    [symbol: symbol]: { defaultValue?: unknown };
    /** Only symbols are declared. */
    [name: string]: unknown;
}
interface OsmState {
    /** A copy of the value; the default if none is stored. */
    get(symbol: symbol): any;
    /** Stores a value. Throws, and stores nothing, if JSON cannot hold it. A Date is stored as a string. */
    set(symbol: symbol, value: unknown): void;
    /** Resets one symbol, or all, to the default. */
    reset(symbol?: symbol): void;
    /** Calls the observer when another process changes the value, or a change is discarded. Returns a function that ends it. */
    observe(symbol: symbol, observer: (value: any, symbol: symbol) => unknown): () => void;
}
type OsmStateKey = { shared: string } | { command: string; name: string };
/** The text being typed. */
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

// ---------------------------------------------------------------- globals of the web platform
//
// An editor that knows the types of browsers uses those.

/** A copy of a value, also with cycles, Map, Set, Date and bytes. Throws a DataCloneError for functions and symbols. */
declare function structuredClone<T = any>(value: T, options?: { transfer?: any[] }): T;

interface OsmTextEncoder {
    readonly encoding: string;
    encode(text?: string): Uint8Array;
    encodeInto(source: string, destination: Uint8Array): { read: number; written: number };
}
interface OsmTextEncoderConstructor {
    new (): OsmTextEncoder;
}
declare var TextEncoder: typeof globalThis extends { onmessage: any; TextEncoder: infer T } ? T : OsmTextEncoderConstructor;

/** Decodes UTF-8; other encodings are not supported. */
interface OsmTextDecoder {
    readonly encoding: string;
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    decode(source?: ArrayBuffer | ArrayBufferView | null, options?: { stream?: boolean }): string;
}
interface OsmTextDecoderConstructor {
    new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): OsmTextDecoder;
}
declare var TextDecoder: typeof globalThis extends { onmessage: any; TextDecoder: infer T } ? T : OsmTextDecoderConstructor;

interface OsmURL {
    href: string;
    readonly origin: string;
    protocol: string;
    username: string;
    password: string;
    host: string;
    hostname: string;
    port: string;
    pathname: string;
    search: string;
    readonly searchParams: OsmURLSearchParams;
    hash: string;
    toString(): string;
    toJSON(): string;
}
interface OsmURLConstructor {
    new (url: string | OsmURL, base?: string | OsmURL): OsmURL;
    canParse(url: string | OsmURL, base?: string | OsmURL): boolean;
    parse(url: string | OsmURL, base?: string | OsmURL): OsmURL | null;
}
declare var URL: typeof globalThis extends { onmessage: any; URL: infer T } ? T : OsmURLConstructor;

interface OsmURLSearchParams {
    readonly size: number;
    append(name: string, value: string): void;
    delete(name: string, value?: string): void;
    get(name: string): string | null;
    getAll(name: string): string[];
    has(name: string, value?: string): boolean;
    set(name: string, value: string): void;
    sort(): void;
    forEach(each: (value: string, name: string, params: OsmURLSearchParams) => void, self?: any): void;
    entries(): IterableIterator<[string, string]>;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string>;
    toString(): string;
    [Symbol.iterator](): IterableIterator<[string, string]>;
}
interface OsmURLSearchParamsConstructor {
    new (init?: string | Iterable<readonly [string, string]> | Record<string, string> | OsmURLSearchParams): OsmURLSearchParams;
}
declare var URLSearchParams: typeof globalThis extends { onmessage: any; URLSearchParams: infer T } ? T : OsmURLSearchParamsConstructor;

/** An event of one target: there is no tree in which it could bubble. */
interface OsmEvent {
    readonly type: string;
    readonly target: OsmEventTarget | null;
    readonly currentTarget: OsmEventTarget | null;
    readonly bubbles: boolean;
    readonly cancelable: boolean;
    readonly defaultPrevented: boolean;
    readonly timeStamp: number;
    preventDefault(): void;
    stopPropagation(): void;
    stopImmediatePropagation(): void;
}
interface OsmEventConstructor {
    new (type: string, options?: { bubbles?: boolean; cancelable?: boolean }): OsmEvent;
}
declare var Event: typeof globalThis extends { onmessage: any; Event: infer T } ? T : OsmEventConstructor;

type OsmListener = ((event: any) => void) | { handleEvent(event: any): void } | null;
interface OsmEventTarget {
    addEventListener(type: string, listener: OsmListener, options?: boolean | { once?: boolean; capture?: boolean; signal?: OsmAbortSignal }): void;
    removeEventListener(type: string, listener: OsmListener, options?: boolean | { capture?: boolean }): void;
    dispatchEvent(event: any): boolean;
}
interface OsmEventTargetConstructor {
    new (): OsmEventTarget;
}
declare var EventTarget: typeof globalThis extends { onmessage: any; EventTarget: infer T } ? T : OsmEventTargetConstructor;

interface OsmAbortSignal extends OsmEventTarget {
    readonly aborted: boolean;
    readonly reason: any;
    onabort: ((event: any) => void) | null;
    throwIfAborted(): void;
}
interface OsmAbortSignalConstructor {
    abort(reason?: any): OsmAbortSignal;
    any(signals: Iterable<OsmAbortSignal>): OsmAbortSignal;
    /** A signal that aborts later. It keeps no script from its end. */
    timeout(milliseconds: number): OsmAbortSignal;
}
declare var AbortSignal: typeof globalThis extends { onmessage: any; AbortSignal: infer T } ? T : OsmAbortSignalConstructor;

interface OsmAbortController {
    readonly signal: OsmAbortSignal;
    abort(reason?: any): void;
}
interface OsmAbortControllerConstructor {
    new (): OsmAbortController;
}
declare var AbortController: typeof globalThis extends { onmessage: any; AbortController: infer T } ? T : OsmAbortControllerConstructor;

// ---------------------------------------------------------------- modules

/** Splits a line into words, and joins words to a line. */
declare module 'osm:argv' {
    export function parseArgv(line: string): string[];
    export function formatArgv(words: string[]): string;
}

/** The program's prompt builder. The modules below use it; scripts seldom need it. */
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
        /** How errors call the template. */
        name?: string;
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
        /** How a note begins. */
        beginning: string | null;
        /** Why a diff cannot be taken. */
        failed: string | null;
        /** The repository of an item from another one. */
        repository: string | null;
    }
    interface Found {
        path: string;
        /** Where the path leads, without links. */
        real: string;
        label: string;
        folder: boolean;
    }
    export function resolve(paths: string[]): {
        found: Found[];
        failed: { path: string; message: string }[];
        skipped: { path: string; reason: string }[];
    };
    export function changed(args: string[]): {
        found: Found[];
        skipped: { path: string; reason: string }[];
        error: string | null;
    };
    /** Throws if git does not take the arguments of a diff. */
    export function checkDiff(diff: { arguments: string[]; folder?: string }): void;
    export function describe(items: import('osm:ctxutil').Item[]): Described[];
    /** The ids of items whose file or folder is missing; does not read files. */
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

/** Digests of text (in UTF-8) or bytes, as hexadecimal text. */
declare module 'osm:crypto' {
    type Data = string | ArrayBuffer | ArrayBufferView | readonly number[] | null;
    export function sha256(data?: Data): string;
    /** For checksums of other tools; it protects nothing. */
    export function sha1(data?: Data): string;
    /** For checksums of other tools; it protects nothing. */
    export function md5(data?: Data): string;
    export function hmacSHA256(key?: Data, data?: Data): string;
    export function hmacSHA1(key?: Data, data?: Data): string;
}

/** The context of a prompt, and the commands that change it. */
declare module 'osm:ctxutil' {
    /** An item of a prompt. Unknown fields are kept. */
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
        /** Default: the shared contextItems. */
        getItems?: () => Item[];
        setItems?: (items: Item[]) => void;
        nextIntegerId?: (items: Item[]) => number;
        /** The template of the prompt, which the program renders; `context` is the text of all items. */
        prompt?: () => { template?: string; data?: object };
        /** Builds the whole prompt in the script instead. */
        buildPrompt?: () => string | Promise<string>;
        postCopyHint?: string;
    }
    type Name = 'add' | 'diff' | 'exec' | 'note' | 'list' | 'edit' | 'remove' | 'show' | 'copy';
    interface Manager {
        commands: Record<Name, OsmCommand>;
        getItems(): Item[];
        setItems(items: Item[]): void;
        /** Adds an item; returns its id, which is never reused. */
        addItem(type: string, label: string, payload?: unknown, more?: object): number;
        removeItem(id: number): void;
        /** Lists the items of the session, and the missing files. */
        rehydrate(): { items: number; files: number; missing: number[] };
        buildPrompt(): string | Promise<string>;
    }
    export function buildContext(items: Item[], options?: { toTxtar?: () => string }): string;
    export function contextManager(options?: Options): Manager;
}

/** base64 and hexadecimal encoding of text. */
declare module 'osm:encoding' {
    export function base64Encode(text: string): string;
    export function base64Decode(text: string): string;
    export function base64URLEncode(text: string): string;
    export function base64URLDecode(text: string): string;
    export function hexEncode(text: string): string;
    export function hexDecode(text: string): string;
}

/** Runs programs. A failure gives a result with `error: true`, not an exception. */
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

/** Parses flags in a script's arguments, with the rules of Go's flag package. */
declare module 'osm:flag' {
    /** A flag; its values as text. */
    interface Flag {
        name: string;
        usage: string;
        defValue: string;
        value: string;
    }
    interface FlagSet {
        string(name: string, value?: string, usage?: string): FlagSet;
        int(name: string, value?: number, usage?: string): FlagSet;
        bool(name: string, value?: boolean, usage?: string): FlagSet;
        float64(name: string, value?: number, usage?: string): FlagSet;
        /** Flags end at `--` and at the first other word. */
        parse(args: readonly string[]): { error: string | null };
        /** The value; undefined if the flag is not defined. */
        get(name: string): any;
        /** The words after the flags. */
        args(): string[];
        nArg(): number;
        nFlag(): number;
        lookup(name: string): Flag | null;
        /** A description of all flags, for a message about usage. */
        defaults(): string;
        /** The flags that were set, by name. */
        visit(each: (flag: Flag) => void): void;
        visitAll(each: (flag: Flag) => void): void;
    }
    export function newFlagSet(name?: string): FlagSet;
}

/** Readable numbers and sizes. */
declare module 'osm:format' {
    export function formatNum(number: number): string;
    export function formatBytes(bytes: number): string;
}

/** JSON: parse, stringify, query, patch and compare. */
declare module 'osm:json' {
    /** Throws a TypeError for a text that is not JSON. */
    export function parse(text: string): any;
    export function stringify(value: unknown, indent?: number | string): string;
    /** The value at a path such as a.b[0].c; `[*]` is every item of a list. */
    export function query(value: unknown, path: string): any;
    /** RFC 7386; the arguments stay as they are. */
    export function mergePatch(target: unknown, patch: unknown): any;
    /** What changed, by name; a path is a JSON Pointer. */
    export function diff(
        before: unknown,
        after: unknown,
    ): { op: 'add' | 'remove' | 'replace'; path: string; value?: any; oldValue?: any }[];
    /** Keys such as a.b and a.c[0]. */
    export function flatten(value: object, separator?: string): Record<string, any>;
    export function unflatten(flat: Record<string, unknown>, separator?: string): any;
}

/** The number after the highest id in a list. */
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

/** Files, environment variables, the editor, the clipboard. */
declare module 'osm:os' {
    interface Writing {
        /** The permissions of a new file, from which the umask takes; default: 0o644. */
        mode?: number;
        createDirs?: boolean;
    }
    /** A failure gives a result with `error: true`, not an exception. `~` is the user's home, here and below. */
    export function readFile(path: string): { content: string; error: boolean; message: string };
    export function writeFile(path: string, text: string, options?: Writing): void;
    export function appendFile(path: string, text: string, options?: Writing): void;
    /** Whether a file or a folder exists. */
    export function fileExists(path: string): boolean;
    export function isAbsolute(path: string): boolean;
    export function join(...parts: (string | null | undefined)[]): string;
    /** linux, darwin, windows, … */
    export function platform(): string;
    /** An environment variable; empty if it is not set. */
    export function getenv(name: string): string;
    /** Opens a text in the user's editor and returns the result; the hint names it. */
    export function openEditor(hint?: string, text?: string): string;
    export function clipboardCopy(text: string): void;
    export function clipboardPaste(): string;
}

/** Paths, with the rules of Go's filepath package. */
declare module 'osm:path' {
    export function join(...parts: string[]): string;
    export function dir(path: string): string;
    export function base(path: string): string;
    export function ext(path: string): string;
    export function abs(path: string): { result: string; error: string | null };
    export function rel(from: string, to: string): { result: string; error: string | null };
    export function clean(path: string): string;
    export function isAbs(path: string): boolean;
    /** Patterns: `*`, `?`, `[a-z]`, `[^a-z]`, and `\\` before a character that means itself. */
    export function match(pattern: string, name: string): { matched: boolean; error: string | null };
    /** The files and folders that a pattern matches; null if there are none. */
    export function glob(pattern: string): { matches: string[] | null; error: string | null };
    export const separator: string;
    export const listSeparator: string;
}

/** Symbols of state that all commands share. */
declare module 'osm:sharedStateSymbols' {
    /** The items of the prompts of all modes. */
    export const contextItems: unique symbol;
    /** The symbol of a shared key: always the same one for a name. */
    export function define(name: string): symbol;
}

/** Templates: MiniJinja. */
declare module 'osm:template' {
    interface Template {
        name(): string;
        parse(text: string): Template;
        execute(data?: object): string;
    }
    /** Renders a template. A name that the data does not have is an error. */
    export function render(text: string, data?: object): string;
    /** Throws if the template cannot be parsed. */
    export function check(text: string): void;
    function create(name: string): Template;
    export { create as new };
}

declare module 'osm:time' {
    /** Sleeps for at most 60 000 milliseconds. */
    export function sleep(milliseconds: number): void;
}

/** Counts tokens, bytes and lines. */
declare module 'osm:tokenizer' {
    export function count(text: string): number;
    export function byteCount(text: string): number;
    export function lineCount(text: string): number;
}
