/**
 * Which decoder to use: the best that works here. One that failed is not tried again on this page.
 */
import type { Decoder, DecoderPath, DecoderSink } from "./decoder.js";
export declare class DecoderPaths {
    #private;
    private readonly wasmUrl;
    private readonly changed;
    /** The path in use; none before the first connection. */
    current: DecoderPath | undefined;
    constructor(wasmUrl: string | URL, changed: (path: DecoderPath, why: string) => void);
    /** Choose, before the server is told which codec to send. */
    choose(): Promise<DecoderPath>;
    /** A decoder failed: it is not tried again. */
    failed(path: DecoderPath, error: unknown): void;
    /** A new decoder for Opus; tries what is left until one opens. Throws `no_decoder`. */
    opus(sink: DecoderSink): Promise<{
        path: DecoderPath;
        decoder: Decoder;
    }>;
    pcm(sink: DecoderSink): {
        path: DecoderPath;
        decoder: Decoder;
    };
}
