/**
 * The browser's own decoder. Without a `description` it drops no pre-skip and moves no time, which
 * is what all browsers agree on; who calls trims by counting samples.
 */
import type { Decoder, DecoderSink } from "./decoder.js";
export declare function webCodecsSupported(): Promise<boolean>;
/** Throws where `configure` does. */
export declare function webCodecsDecoder(sink: DecoderSink): Decoder;
