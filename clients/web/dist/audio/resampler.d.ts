/**
 * From the codec's 48 kHz to the device's rate, as a stream.
 *
 * A windowed sinc (Kaiser, beta 8), looked up in a table with linear interpolation between its
 * phases. The output is aligned with the input: output sample n is the sound at n * from / to.
 * Pure; positions count from the first sample given.
 */
export declare class Resampler {
    #private;
    constructor(from: number, to: number);
    /** All output that this input completes: some 16 samples stay back until more comes. */
    process(samples: Float32Array): Float32Array<ArrayBuffer>;
    /** The rest, as if silence followed. */
    flush(): Float32Array<ArrayBuffer>;
}
