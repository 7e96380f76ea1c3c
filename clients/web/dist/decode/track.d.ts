/**
 * One context's packets into one context's samples, over whatever decoders it takes.
 *
 * A decoder that fails (or falls silent) in mid-stream is replaced by the next path, and the packets
 * it still owed are decoded again, after a run-up over the two before them so that the new one
 * has settled. Cancelling ends a generation; each result of an older one is dropped.
 */
import { CosystreamError } from "../errors.js";
import type { DecoderPaths } from "./paths.js";
export interface TrackSink {
    /** `position` counts 48 kHz samples from the first that is to be heard. */
    samples(position: number, samples: Float32Array): void;
    /** There is no decoder left for this codec. */
    failed(error: CosystreamError): void;
}
export declare class TrackDecoder {
    #private;
    private readonly paths;
    private readonly codec;
    private readonly preSkip;
    private readonly sink;
    constructor(paths: DecoderPaths, codec: "opus" | "pcm_s16le", preSkip: number, sink: TrackSink);
    /** `pts` is used only where audio before the packet is missing. */
    push(data: Uint8Array, pts: number, discontinuity: boolean): void;
    /** Resolves when all that was pushed has come out, or nothing more can. */
    drain(): Promise<void>;
    close(): void;
}
