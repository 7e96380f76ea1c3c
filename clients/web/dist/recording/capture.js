/**
 * What a microphone hears, in blocks: the AudioWorklet of the recorder. One file without imports,
 * since a worklet is loaded by its own URL.
 *
 * Knows: samples. Does not know: for whom, or how long.
 */
/** Some 43 ms at 48 kHz: quick enough for a meter, slow enough for messages. */
const BLOCK = 2048;
const scope = globalThis;
if (scope.AudioWorkletProcessor !== undefined) {
    scope.registerProcessor("cosystream-capture", class extends scope.AudioWorkletProcessor {
        #block = new Float32Array(BLOCK);
        #filled = 0;
        #stopped = false;
        constructor() {
            super();
            this.port.onmessage = () => {
                this.#stopped = true;
                this.#tell(true);
            };
        }
        process(inputs) {
            const samples = inputs[0]?.[0];
            // Between a device's going and its track's end there is no input.
            if (samples !== undefined && !this.#stopped)
                this.#take(samples);
            return !this.#stopped;
        }
        #take(samples) {
            this.#block.set(samples, this.#filled);
            this.#filled += samples.length;
            if (this.#filled + samples.length > BLOCK)
                this.#tell(false);
        }
        #tell(last) {
            const samples = this.#block.slice(0, this.#filled);
            this.#filled = 0;
            this.port.postMessage({ samples, last }, [samples.buffer]);
        }
    });
}
export {};
