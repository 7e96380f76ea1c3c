/** 16-bit little-endian samples at 48 kHz: no decoder at all. */
import type { Decoder, DecoderSink } from "./decoder.js";
export declare function pcmDecoder(sink: DecoderSink): Decoder;
