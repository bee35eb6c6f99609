// Paths, with forward slashes, and backslashes on Windows.
'use strict';
const windows = require('osm:os').platform() === 'windows';
const separator = windows ? '\\' : '/';
const isSeparator = (character) => character === '/' || (windows && character === '\\');

function isAbs(path) {
    return isSeparator(path[0]) || (windows && /^[A-Za-z]:[\\/]/.test(path));
}

function clean(path) {
    if (path === '') {
        return '.';
    }
    const drive = windows && /^[A-Za-z]:/.test(path) ? path.slice(0, 2) : '';
    const rest = path.slice(drive.length);
    const rooted = isSeparator(rest[0]);
    const parts = [];
    for (const part of rest.split(windows ? /[\\/]+/ : /\/+/)) {
        if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') {
            parts.pop();
        } else if (part === '..' && rooted) {
            // Above the root is the root.
        } else if (part !== '' && part !== '.') {
            parts.push(part);
        }
    }
    return drive + (rooted ? separator : '') + parts.join(separator) || '.';
}

const join = (...parts) => {
    const given = parts.filter((part) => part !== '');
    return given.length === 0 ? '' : clean(given.join(separator));
};

function cut(path) {
    let at = path.length;
    while (at > 0 && !isSeparator(path[at - 1])) {
        at -= 1;
    }
    return at;
}

function dir(path) {
    return clean(path.slice(0, cut(path)));
}

function base(path) {
    if (path === '') {
        return '.';
    }
    const trimmed = path.replace(windows ? /[\\/]+$/ : /\/+$/, '');
    return trimmed === '' ? separator : trimmed.slice(cut(trimmed));
}

function ext(path) {
    const name = path.slice(cut(path));
    const dot = name.lastIndexOf('.');
    return dot < 0 ? '' : name.slice(dot);
}

function rel(from, to) {
    const [one, other] = [clean(from), clean(to)];
    if (isAbs(one) !== isAbs(other)) {
        throw new Error(`no relative path from ${from} to ${to}`);
    }
    const split = (path) => (path === '.' ? [] : path.split(separator).filter((part) => part !== ''));
    const [ours, theirs] = [split(one), split(other)];
    let same = 0;
    while (same < ours.length && same < theirs.length && ours[same] === theirs[same]) {
        same += 1;
    }
    const up = ours.slice(same).map(() => '..');
    return [...up, ...theirs.slice(same)].join(separator) || '.';
}

// Shell patterns: * ? [abc] [^abc], none of which matches a separator.
function match(pattern, name) {
    let expression = '^';
    for (let at = 0; at < pattern.length; at += 1) {
        const character = pattern[at];
        if (character === '*') {
            expression += '[^/]*';
        } else if (character === '?') {
            expression += '[^/]';
        } else if (character === '[') {
            const end = pattern.indexOf(']', at + 2);
            if (end < 0) {
                throw new Error(`invalid pattern ${pattern}: missing ]`);
            }
            expression += pattern.slice(at, end + 1).replaceAll('\\', '\\\\');
            at = end;
        } else {
            expression += character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
        }
    }
    return new RegExp(`${expression}$`, 'u').test(name);
}

// The working directory and its files are known to the program.
const abs = (path) => (isAbs(path) ? clean(path) : join(__osm.callContext('folder'), path));
const glob = (pattern) => __osm.callContext('resolve', [pattern]).found.map((each) => each.label);

Object.assign(exports, { join, dir, base, ext, abs, rel, clean, isAbs, match, glob, separator });
exports.listSeparator = windows ? ';' : ':';
