/**
 * The ring that feeds the device, and the AudioWorklet around it. One file without imports, since a
 * worklet is loaded by its own URL; the fallback without AudioWorklet runs the same ring.
 *
 * Knows: tracks of chunks at the device's rate, each with its place in the context's audio
 * (samples at 48 kHz). Does not know: codecs, networks, what a context is.
 */
export type ToRing = {
    type: "open";
    track: number;
} | {
    type: "push";
    track: number;
    position: number;
    samples: Float32Array<ArrayBuffer>;
}
/** Nothing beyond `position` is to be heard, and nothing more comes. */
 | {
    type: "end";
    track: number;
    position: number;
}
/** `cut`: without the ramp that avoids a click, where the caller has one of its own. */
 | {
    type: "drop";
    track: number;
    cut?: boolean;
}
/** How much is to be buffered before sound begins. */
 | {
    type: "target";
    ms: number;
};
/** `time` is on the AudioContext's clock, in seconds; `position` is where the track has got to. */
export type FromRing = {
    type: "started";
    track: number;
    time: number;
} | {
    type: "played";
    track: number;
    position: number;
    time: number;
} | {
    type: "dry";
    track: number;
    position: number;
    time: number;
} | {
    type: "resumed";
    track: number;
    position: number;
    time: number;
    gapMs: number;
} | {
    type: "drained";
    track: number;
    position: number;
    time: number;
};
export declare class Ring {
    #private;
    readonly rate: number;
    private readonly tell;
    constructor(rate: number, tell: (message: FromRing) => void);
    handle(message: ToRing): void;
    /** Fill `out` with what is to be heard from `time` on. */
    render(out: Float32Array, time: number): void;
}
