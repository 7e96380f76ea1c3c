/**
 * The sound as bars that run past a line: left of it what has been heard, right of it what has
 * arrived and waits.
 */

const STEP_MS = 20;
/** A bar is the louder of two steps. */
const BAR_MS = 2 * STEP_MS;
const BAR_PX = 3;
const GAP_PX = 2;
/** Where the line stands, as a share of the width. */
const HEAD = 0.5;

export class Wave {
  #levels: number[] = [];
  #playedMs = 0;
  #frame = 0;
  readonly #still = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(private readonly canvas: HTMLCanvasElement) {
    new ResizeObserver(() => this.#ask()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#ask());
  }

  clear(): void {
    this.#levels = [];
    this.#playedMs = 0;
    this.#ask();
  }

  add(startMs: number, values: number[]): void {
    values.forEach((value, i) => {
      this.#levels[startMs / STEP_MS + i] = value;
    });
    this.#ask();
  }

  /** How far it has been heard. */
  move(playedMs: number): void {
    this.#playedMs = playedMs;
    this.#ask();
  }

  #ask(): void {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const brush = this.canvas.getContext("2d");
    if (brush === null) return;
    brush.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const [played, waiting] = [style.color, style.getPropertyValue("--wave")];
    const step = BAR_PX + GAP_PX;
    // Whoever wants no motion gets a picture that changes once a second.
    const at = this.#still.matches ? Math.floor(this.#playedMs / 1000) * 1000 : this.#playedMs;
    const shift = (at / BAR_MS) * step;
    const first = Math.max(0, Math.floor((shift - width * HEAD) / step));
    for (let bar = first; ; bar += 1) {
      const x = width * HEAD + bar * step - shift;
      if (x > width) break;
      const level = Math.max(this.#levels[2 * bar] ?? 0, this.#levels[2 * bar + 1] ?? 0);
      brush.fillStyle = bar * BAR_MS < this.#playedMs ? played : waiting;
      drawBar(brush, x, height, level);
    }
    for (let x = width * HEAD - shift - step; x > -step; x -= step) {
      brush.fillStyle = waiting;
      drawBar(brush, x, height, 0);
    }
    brush.fillStyle = played;
    brush.fillRect(Math.round(width * HEAD) - 1, height * 0.12, 1, height * 0.76);
  }
}

/** One bar, a dot where it is silent. Loudness is in decibels; bent a little, so that quiet parts look quiet. */
function drawBar(brush: CanvasRenderingContext2D, x: number, height: number, level: number): void {
  const length = Math.max(BAR_PX, height * 0.84 * level ** 1.4);
  brush.beginPath();
  brush.roundRect(x, (height - length) / 2, BAR_PX, length, BAR_PX / 2);
  brush.fill();
}
