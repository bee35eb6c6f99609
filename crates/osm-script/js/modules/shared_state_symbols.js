// Symbols that name state which commands share.
'use strict';
exports.define = __osm.defineShared;
exports.contextItems = exports.define('contextItems');
