/** Samples as a WAVE file: 16 bits, one channel. Pure. */
export declare function wav(chunks: readonly Float32Array[], rate: number): Blob;
