/** What turns packets into samples: one face for WebCodecs, WASM and plain PCM. */
export {};
