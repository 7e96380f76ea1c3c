/**
 * `opus-decoder` (libopus in WebAssembly), loaded the first time it is needed: its JavaScript beside
 * this file, its code from `wasmUrl`, so that a page whose policy allows no blob: or data: can use it.
 */
import type { Decoder, DecoderSink } from "./decoder.js";
type OpusDecoderClass = typeof import("./opus-decoder.js").OpusDecoder;
/** Throws where WebAssembly is forbidden or a file cannot be had; then a later call tries again. */
export declare function loadWasm(url: string | URL): Promise<OpusDecoderClass>;
export declare function wasmDecoder(url: string | URL, sink: DecoderSink): Promise<Decoder>;
export {};
