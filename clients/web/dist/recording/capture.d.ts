/**
 * What a microphone hears, in blocks: the AudioWorklet of the recorder. One file without imports,
 * since a worklet is loaded by its own URL.
 *
 * Knows: samples. Does not know: for whom, or how long.
 */
/** The samples since the last message; `last` answers `"stop"`. */
export interface Captured {
    samples: Float32Array<ArrayBuffer>;
    last: boolean;
}
