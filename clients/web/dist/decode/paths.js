/**
 * Which decoder to use: the best that works here. One that failed is not tried again on this page.
 */
import { CosystreamError, reason } from "../errors.js";
import { pcmDecoder } from "./pcm.js";
import { loadWasm, wasmDecoder } from "./wasm.js";
import { webCodecsDecoder, webCodecsSupported } from "./webcodecs.js";
export class DecoderPaths {
    wasmUrl;
    changed;
    /** The path in use; none before the first connection. */
    current;
    #failed = new Map();
    constructor(wasmUrl, changed) {
        this.wasmUrl = wasmUrl;
        this.changed = changed;
    }
    /** Choose, before the server is told which codec to send. */
    async choose() {
        if (!this.#failed.has("webcodecs") && !(await webCodecsSupported())) {
            this.#failed.set("webcodecs", "this browser (or this insecure page) has no AudioDecoder for Opus");
        }
        if (this.#failed.has("webcodecs") && !this.#failed.has("wasm")) {
            try {
                await loadWasm(this.wasmUrl);
            }
            catch (error) {
                this.#failed.set("wasm", reason(error));
            }
        }
        const path = !this.#failed.has("webcodecs") ? "webcodecs" : !this.#failed.has("wasm") ? "wasm" : "pcm";
        this.#use(path);
        return path;
    }
    /** A decoder failed: it is not tried again. */
    failed(path, error) {
        // A browser takes a decoder away that a hidden page has not used for long: another one will do.
        if (error instanceof DOMException && error.name === "QuotaExceededError")
            return;
        if (!this.#failed.has(path))
            this.#failed.set(path, reason(error));
    }
    /** A new decoder for Opus; tries what is left until one opens. Throws `no_decoder`. */
    async opus(sink) {
        for (const path of ["webcodecs", "wasm"]) {
            if (this.#failed.has(path))
                continue;
            try {
                const decoder = path === "webcodecs" ? webCodecsDecoder(sink) : await wasmDecoder(this.wasmUrl, sink);
                this.#use(path);
                return { path, decoder };
            }
            catch (error) {
                this.failed(path, error);
            }
        }
        throw new CosystreamError("no_decoder", `Opus cannot be decoded here: ${this.#why()}`, { retryable: true });
    }
    pcm(sink) {
        return { path: "pcm", decoder: pcmDecoder(sink) };
    }
    #use(path) {
        if (path === this.current)
            return;
        this.current = path;
        this.changed(path, this.#why());
    }
    #why() {
        return [...this.#failed].map(([path, why]) => `${path}: ${why}`).join("; ");
    }
}
