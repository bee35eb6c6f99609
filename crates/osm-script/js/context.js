// context: files and folders that a script has picked, over the module osm:context.
'use strict';
