// The text being typed, as completers see it. Positions count code points.
'use strict';
(function (ours) {
    const isBlank = (character) => /\s/.test(character);

    ours.makeDocument = function ({ text, cursor }) {
        const all = [...text];
        const at = Math.max(0, Math.min(cursor, all.length));
        const [before, after] = [all.slice(0, at), all.slice(at)];
        const start = before.lastIndexOf('\n') + 1;
        const end = after.indexOf('\n') < 0 ? after.length : after.indexOf('\n');
        const [lineBefore, lineAfter] = [before.slice(start).join(''), after.slice(0, end).join('')];
        const lines = text.split('\n');
        const row = before.filter((each) => each === '\n').length;
        const wordEnd = after.findIndex(isBlank);
        return Object.freeze({
            getText: () => text,
            getTextBeforeCursor: () => before.join(''),
            getTextAfterCursor: () => after.join(''),
            getWordBeforeCursor: () => before.slice(before.findLastIndex(isBlank) + 1).join(''),
            getWordAfterCursor: () => after.slice(0, wordEnd < 0 ? after.length : wordEnd).join(''),
            getCurrentLine: () => lineBefore + lineAfter,
            getCurrentLineBeforeCursor: () => lineBefore,
            getCurrentLineAfterCursor: () => lineAfter,
            getCursorPositionCol: () => at - start,
            getCursorPositionRow: () => row,
            getLines: () => [...lines],
            getLineCount: () => lines.length,
            onLastLine: () => row === lines.length - 1,
            // 0 is the character before the cursor, 1 the one after it.
            getCharRelativeToCursor: (offset) => all[at + offset - 1] ?? '',
        });
    };
})(__osm);
