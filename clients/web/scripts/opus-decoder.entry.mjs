/*!
 * opus-decoder (https://github.com/eshaz/wasm-audio-decoders), MIT; libopus, BSD.
 * Bundled unchanged but for the WebAssembly, which is loaded from opus-decoder.wasm.
 * The licences stand in opus-decoder.LICENSE.txt.
 */
export { default as OpusDecoder } from "../node_modules/opus-decoder/src/OpusDecoder.js";
