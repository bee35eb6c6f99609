// The globals of the web platform. Each is made when a script first uses it: most scripts use none.
'use strict';
(function () {
    const { require } = globalThis;
    const MODULES = {
        'osm:web/abort': ['AbortController', 'AbortSignal'],
        'osm:web/clone': ['structuredClone'],
        'osm:web/events': ['Event', 'EventTarget'],
        'osm:web/search': ['URLSearchParams'],
        'osm:web/text': ['TextDecoder', 'TextEncoder'],
        'osm:web/url': ['URL'],
    };
    for (const [module, names] of Object.entries(MODULES)) {
        for (const name of names) {
            const settle = (value) => {
                Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
                return value;
            };
            const get = () => settle(require(module)[name]);
            Object.defineProperty(globalThis, name, { get, set: settle, enumerable: false, configurable: true });
        }
    }
})();
