/**
 * From the codec's 48 kHz to the device's rate, as a stream.
 *
 * A windowed sinc (Kaiser, beta 8), looked up in a table with linear interpolation between its
 * phases. The output is aligned with the input: output sample n is the sound at n * from / to.
 * Pure; positions count from the first sample given.
 */

/** Zero crossings of the sinc on each side. */
const CROSSINGS = 16;
const PHASES = 512;
const BETA = 8;

export class Resampler {
  readonly #step: number;
  readonly #cutoff: number;
  readonly #half: number;
  readonly #table: Float32Array;
  /** Input from `#base` on that may still be needed. */
  #input: Float32Array<ArrayBufferLike> = new Float32Array(0);
  #base: number;
  #made = 0;
  #given = 0;

  constructor(from: number, to: number) {
    this.#step = from / to;
    this.#cutoff = Math.min(1, to / from);
    this.#half = Math.ceil(CROSSINGS / this.#cutoff);
    this.#table = kernel();
    this.#base = -this.#half;
    this.#input = new Float32Array(this.#half);
  }

  /** All output that this input completes: some 16 samples stay back until more comes. */
  process(samples: Float32Array): Float32Array<ArrayBuffer> {
    this.#given += samples.length;
    return this.#run(samples, this.#base + this.#input.length + samples.length - this.#half);
  }

  /** The rest, as if silence followed. */
  flush(): Float32Array<ArrayBuffer> {
    return this.#run(new Float32Array(this.#half), this.#given);
  }

  #run(samples: Float32Array, until: number): Float32Array<ArrayBuffer> {
    const input = new Float32Array(this.#input.length + samples.length);
    input.set(this.#input);
    input.set(samples, this.#input.length);
    const end = Math.max(this.#made, Math.ceil(until / this.#step));
    const output = new Float32Array(end - this.#made);
    for (let i = 0; i < output.length; i += 1) {
      output[i] = this.#at(input, (this.#made + i) * this.#step - this.#base);
    }
    this.#made = end;
    const keep = Math.max(0, Math.floor(end * this.#step) - this.#half - this.#base);
    this.#input = input.subarray(keep);
    this.#base += keep;
    return output;
  }

  #at(input: Float32Array, position: number): number {
    const first = Math.max(0, Math.ceil(position - this.#half));
    const last = Math.min(input.length - 1, Math.floor(position + this.#half));
    let sum = 0;
    for (let i = first; i <= last; i += 1) {
      const place = Math.abs(position - i) * this.#cutoff * PHASES;
      const index = Math.floor(place);
      const low = this.#table[index] ?? 0;
      const high = this.#table[index + 1] ?? 0;
      sum += (input[i] as number) * (low + (high - low) * (place - index));
    }
    return sum * this.#cutoff;
  }
}

let shared: Float32Array | undefined;

/** Half of the kernel, `PHASES` values a zero crossing. */
function kernel(): Float32Array {
  if (shared) return shared;
  const size = CROSSINGS * PHASES;
  shared = new Float32Array(size + 1);
  for (let i = 0; i <= size; i += 1) {
    const x = i / PHASES;
    const sinc = i === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    shared[i] = sinc * (bessel(BETA * Math.sqrt(1 - (i / size) ** 2)) / bessel(BETA));
  }
  return shared;
}

/** The modified Bessel function of the first kind, order zero, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
