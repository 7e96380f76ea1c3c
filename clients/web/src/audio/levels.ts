/** Loudness, 0 to 1, every 20 ms: for mouths and meters. Pure. */

export const STEP_MS = 20;
const STEP_SAMPLES = 960;
/** Decibels below full scale that count as silence. */
const FLOOR_DB = 60;

export class LevelMeter {
  #sum = 0;
  #count = 0;
  #steps = 0;

  /** Milliseconds that have been measured. */
  get startMs(): number {
    return this.#steps * STEP_MS;
  }

  /** The levels of the steps that these samples (48 kHz, without hole) complete. */
  push(samples: Float32Array): number[] {
    const levels: number[] = [];
    for (const sample of samples) {
      this.#sum += sample * sample;
      this.#count += 1;
      if (this.#count === STEP_SAMPLES) levels.push(this.#step());
    }
    return levels;
  }

  #step(): number {
    const decibels = 10 * Math.log10(this.#sum / this.#count + 1e-12);
    this.#sum = 0;
    this.#count = 0;
    this.#steps += 1;
    return Math.max(0, Math.min(1, 1 + decibels / FLOOR_DB));
  }
}
