// Paths, with the rules of Go's filepath package: forward slashes, and backslashes on Windows.
'use strict';
const windows = __osm.invoke('osm:os', 'platform', []) === 'windows';
const separator = windows ? '\\' : '/';
const isSeparator = (character) => character === '/' || (windows && character === '\\');
const SEPARATORS = windows ? /[\\/]+/ : /\/+/;

// An argument that was not passed is an empty text.
const text = (value) => (value === undefined ? '' : String(value));

const driveOf = (path) => (windows && /^[A-Za-z]:/.test(path) ? path.slice(0, 2) : '');

function isAbs(given) {
    const path = text(given);
    return windows ? /^([A-Za-z]:[\\/]|[\\/]{2})/.test(path) : isSeparator(path[0]);
}

function clean(given) {
    const path = text(given);
    const drive = driveOf(path);
    const rest = path.slice(drive.length);
    const rooted = isSeparator(rest[0]);
    const parts = [];
    for (const part of rest.split(SEPARATORS)) {
        if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') {
            parts.pop();
        } else if (part === '..' && rooted) {
            // Above the root is the root.
        } else if (part !== '' && part !== '.') {
            parts.push(part);
        }
    }
    const cleaned = (rooted ? separator : '') + parts.join(separator);
    return drive + (cleaned || '.');
}

function join(...parts) {
    const given = parts.map(text).filter((part) => part !== '');
    return given.length === 0 ? '' : clean(given.join(separator));
}

// The place after the last separator.
function cut(path) {
    let at = path.length;
    while (at > 0 && !isSeparator(path[at - 1])) {
        at -= 1;
    }
    return Math.max(at, driveOf(path).length);
}

const dir = (given) => clean(text(given).slice(0, cut(text(given))));

function base(given) {
    const path = text(given);
    if (path === '') {
        return '.';
    }
    const named = path.slice(driveOf(path).length);
    const trimmed = named.replace(windows ? /[\\/]+$/ : /\/+$/, '');
    return trimmed === '' ? separator : trimmed.slice(cut(trimmed));
}

function ext(given) {
    const name = text(given).slice(cut(text(given)));
    const dot = name.lastIndexOf('.');
    return dot < 0 ? '' : name.slice(dot);
}

// The working directory is known to the program.
const abs = (given) => ({
    result: isAbs(given) ? clean(given) : join(__osm.callContext('folder'), text(given)),
    error: null,
});

function rel(from, to) {
    const [one, other] = [clean(from), clean(to)];
    const same = windows ? (part) => part.toLowerCase() : (part) => part;
    const failed = { result: '', error: `Rel: can't make ${text(to)} relative to ${text(from)}` };
    const root = (path) => same(driveOf(path)) + isSeparator(path[driveOf(path).length]);
    if (root(one) !== root(other)) {
        return failed;
    }
    const split = (path) => path.slice(driveOf(path).length).split(SEPARATORS).filter((part) => part !== '' && part !== '.');
    const [ours, theirs] = [split(one), split(other)];
    let shared = 0;
    while (shared < ours.length && shared < theirs.length && same(ours[shared]) === same(theirs[shared])) {
        shared += 1;
    }
    // What is above a folder that is not known is not known either.
    if (ours[shared] === '..') {
        return failed;
    }
    const up = ours.slice(shared).map(() => '..');
    return { result: [...up, ...theirs.slice(shared)].join(separator) || '.', error: null };
}

const BAD_PATTERN = 'syntax error in pattern';
class BadPattern extends Error {}

// The parts of a pattern: '*', or a function that says whether it takes a character.
function patternParts(pattern) {
    const characters = [...pattern];
    const parts = [];
    let at = 0;
    // A character of a class or of the pattern, which a backslash protects.
    function literal(inClass) {
        if (characters[at] === '\\' && !windows) {
            at += 1;
        } else if (inClass && (characters[at] === '-' || characters[at] === ']')) {
            throw new BadPattern(BAD_PATTERN);
        }
        if (at >= characters.length) {
            throw new BadPattern(BAD_PATTERN);
        }
        at += 1;
        return characters[at - 1];
    }
    function characterClass() {
        at += 1;
        const isNegated = characters[at] === '^';
        at += isNegated ? 1 : 0;
        const ranges = [];
        do {
            const low = literal(true).codePointAt(0);
            let high = low;
            if (characters[at] === '-') {
                at += 1;
                high = literal(true).codePointAt(0);
            }
            ranges.push([low, high]);
        } while (characters[at] !== ']');
        at += 1;
        return (character) => {
            const code = character.codePointAt(0);
            return ranges.some(([low, high]) => low <= code && code <= high) !== isNegated;
        };
    }
    while (at < characters.length) {
        if (characters[at] === '*') {
            at += 1;
            parts.push('*');
        } else if (characters[at] === '?') {
            at += 1;
            parts.push((character) => !isSeparator(character));
        } else if (characters[at] === '[') {
            parts.push(characterClass());
        } else {
            const wanted = literal(false);
            parts.push((character) => character === wanted);
        }
    }
    return parts;
}

// Whether parts take the whole name. A star takes as little as it can; only the last one takes more.
function takes(parts, name) {
    const characters = [...name];
    let [part, at] = [0, 0];
    let star = null;
    while (at < characters.length || part < parts.length) {
        if (parts[part] === '*') {
            star = { part, at };
            part += 1;
        } else if (part < parts.length && at < characters.length && parts[part](characters[at])) {
            part += 1;
            at += 1;
        } else if (star !== null && star.at < characters.length && !isSeparator(characters[star.at])) {
            star.at += 1;
            [part, at] = [star.part + 1, star.at];
        } else {
            return false;
        }
    }
    return true;
}

function match(pattern, name) {
    try {
        return { matched: takes(patternParts(text(pattern)), text(name)), error: null };
    } catch (error) {
        if (error instanceof BadPattern) {
            return { matched: false, error: error.message };
        }
        throw error;
    }
}

const hasMeta = (path) => (windows ? /[*?[]/ : /[*?[\\]/).test(path);
const names = (folder) => __osm.invoke('osm:files', 'list', [folder]);

// The files and folders that a pattern matches; hidden ones, too. Folders that cannot be read are skipped.
function found(pattern) {
    if (!hasMeta(pattern)) {
        return pattern !== '' && __osm.invoke('osm:files', 'exists', [pattern]) ? [pattern] : [];
    }
    const at = cut(pattern);
    const last = patternParts(pattern.slice(at));
    // The folder without its last separator, unless it is the root.
    const above = pattern.slice(0, at).replace(windows ? /(?<=[^:\\/])[\\/]$/ : /(?<=.)\/$/, '');
    const folders = hasMeta(above) ? found(above) : [above];
    return folders.flatMap((folder) =>
        names(folder === '' ? '.' : folder)
            .filter((name) => takes(last, name))
            .sort()
            .map((name) => join(folder, name)),
    );
}

function glob(pattern) {
    try {
        patternParts(text(pattern));
        const matches = found(text(pattern));
        return { matches: matches.length === 0 ? null : matches, error: null };
    } catch (error) {
        if (error instanceof BadPattern) {
            return { matches: null, error: error.message };
        }
        throw error;
    }
}

Object.assign(exports, { join, dir, base, ext, abs, rel, clean, isAbs, match, glob, separator });
exports.listSeparator = windows ? ';' : ':';
