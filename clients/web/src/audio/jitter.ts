/**
 * How much must be buffered before sound begins: 80 to 200 ms, by how the network behaves.
 *
 * Each underrun raises the target, a quiet time lowers it. Pure; the time is handed in.
 */

export const MIN_TARGET_MS = 80;
export const MAX_TARGET_MS = 200;
const RAISE_MS = 40;
const LOWER_MS = 20;
const QUIET_MS = 10_000;

export class JitterTarget {
  #ms: number;
  #since: number | undefined;

  constructor(
    readonly min: number = MIN_TARGET_MS,
    readonly max: number = MAX_TARGET_MS,
  ) {
    this.#ms = min;
  }

  get ms(): number {
    return this.#ms;
  }

  /** Sound ran out while more of it was on its way. */
  underrun(nowMs: number): void {
    this.#ms = Math.min(this.max, this.#ms + RAISE_MS);
    this.#since = nowMs;
  }

  /** Sound is playing well. True where the target changed. */
  smooth(nowMs: number): boolean {
    this.#since ??= nowMs;
    if (nowMs - this.#since < QUIET_MS || this.#ms === this.min) return false;
    this.#ms = Math.max(this.min, this.#ms - LOWER_MS);
    this.#since = nowMs;
    return true;
  }
}
