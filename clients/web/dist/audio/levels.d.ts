/** Loudness, 0 to 1, every 20 ms: for mouths and meters. Pure. */
export declare const STEP_MS = 20;
export declare class LevelMeter {
    #private;
    /** Milliseconds that have been measured. */
    get startMs(): number;
    /** The levels of the steps that these samples (48 kHz, without hole) complete. */
    push(samples: Float32Array): number[];
}
