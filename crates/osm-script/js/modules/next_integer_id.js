// The number after the greatest id in a list.
'use strict';
module.exports = function nextIntegerId(list) {
    let greatest = 0;
    for (const item of list ?? []) {
        if (item && Number.isInteger(item.id) && item.id > greatest) {
            greatest = item.id;
        }
    }
    return greatest + 1;
};
module.exports.default = module.exports;
