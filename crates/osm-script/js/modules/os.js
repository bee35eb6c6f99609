// The functions of the program; paths are joined as osm:path does.
'use strict';
Object.assign(exports, functions);
exports.join = (...parts) => require('osm:path').join(...parts.map((part) => part ?? ''));
