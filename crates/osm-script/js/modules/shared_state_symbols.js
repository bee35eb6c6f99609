// Symbols of state that all commands share.
'use strict';
exports.define = __osm.defineShared;
exports.contextItems = exports.define('contextItems');
