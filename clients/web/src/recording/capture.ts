/**
 * What a microphone hears, in blocks: the AudioWorklet of the recorder. One file without imports,
 * since a worklet is loaded by its own URL.
 *
 * Knows: samples. Does not know: for whom, or how long.
 */

/** Some 43 ms at 48 kHz: quick enough for a meter, slow enough for messages. */
const BLOCK = 2048;

/** The samples since the last message; `last` answers `"stop"`. */
export interface Captured {
  samples: Float32Array<ArrayBuffer>;
  last: boolean;
}

// What an AudioWorkletGlobalScope has; the DOM's types do not know it.
interface WorkletScope {
  AudioWorkletProcessor?: new () => { readonly port: MessagePort };
  registerProcessor(name: string, processor: unknown): void;
}

const scope = globalThis as unknown as WorkletScope;

if (scope.AudioWorkletProcessor !== undefined) {
  scope.registerProcessor(
    "cosystream-capture",
    class extends scope.AudioWorkletProcessor {
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

      process(inputs: Float32Array[][]): boolean {
        const samples = inputs[0]?.[0];
        // Between a device's going and its track's end there is no input.
        if (samples !== undefined && !this.#stopped) this.#take(samples);
        return !this.#stopped;
      }

      #take(samples: Float32Array): void {
        this.#block.set(samples, this.#filled);
        this.#filled += samples.length;
        if (this.#filled + samples.length > BLOCK) this.#tell(false);
      }

      #tell(last: boolean): void {
        const samples = this.#block.slice(0, this.#filled);
        this.#filled = 0;
        this.port.postMessage({ samples, last } satisfies Captured, [samples.buffer]);
      }
    },
  );
}
