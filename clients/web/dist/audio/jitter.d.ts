/**
 * How much must be buffered before sound begins: 80 to 200 ms, by how the network behaves.
 *
 * Each underrun raises the target, a quiet time lowers it. Pure; the time is handed in.
 */
export declare const MIN_TARGET_MS = 80;
export declare const MAX_TARGET_MS = 200;
export declare class JitterTarget {
    #private;
    readonly min: number;
    readonly max: number;
    constructor(min?: number, max?: number);
    get ms(): number;
    /** Sound ran out while more of it was on its way. */
    underrun(nowMs: number): void;
    /** Sound is playing well. True where the target changed. */
    smooth(nowMs: number): boolean;
}
