/**
 * The ring that feeds the device, and the AudioWorklet around it. One file without imports, since a
 * worklet is loaded by its own URL; the fallback without AudioWorklet runs the same ring.
 *
 * Knows: tracks of chunks at the device's rate, each with its place in the context's audio
 * (samples at 48 kHz). Does not know: codecs, networks, what a context is.
 */

const PTS_RATE = 48_000;
const FADE_MS = 5;
const REPORT_MS = 20;

export type ToRing =
  | { type: "open"; track: number }
  | { type: "push"; track: number; position: number; samples: Float32Array<ArrayBuffer> }
  /** Nothing beyond `position` is to be heard, and nothing more comes. */
  | { type: "end"; track: number; position: number }
  /** `cut`: without the ramp that avoids a click, where the caller has one of its own. */
  | { type: "drop"; track: number; cut?: boolean }
  /** How much is to be buffered before sound begins. */
  | { type: "target"; ms: number };

/** `time` is on the AudioContext's clock, in seconds; `position` is where the track has got to. */
export type FromRing =
  | { type: "started"; track: number; time: number }
  | { type: "played"; track: number; position: number; time: number }
  | { type: "dry"; track: number; position: number; time: number }
  | { type: "resumed"; track: number; position: number; time: number; gapMs: number }
  | { type: "drained"; track: number; position: number; time: number };

interface Chunk {
  position: number;
  samples: Float32Array;
  offset: number;
}

interface Track {
  id: number;
  chunks: Chunk[];
  ended: boolean;
  started: boolean;
  position: number;
}

export class Ring {
  readonly #fade: number;
  readonly #tracks: Track[] = [];
  #target: number;
  /** Silent until enough is buffered. */
  #priming = true;
  /** Samples of silence since sound could have begun. */
  #waited = 0;
  /** Samples of silence since the head ran dry, or nothing where it did not. */
  #dry: number | undefined;
  #fadeIn = 0;
  #tail: Float32Array<ArrayBufferLike> = new Float32Array(0);
  #unreported = 0;

  constructor(
    readonly rate: number,
    private readonly tell: (message: FromRing) => void,
  ) {
    this.#fade = Math.round((rate * FADE_MS) / 1000);
    this.#target = Math.round(rate * 0.08);
  }

  handle(message: ToRing): void {
    if (message.type === "target") this.#target = Math.round((this.rate * message.ms) / 1000);
    else if (message.type === "open") this.#open(message.track);
    else if (message.type === "drop") this.#drop(message.track, message.cut === true);
    else {
      const track = this.#tracks.find((candidate) => candidate.id === message.track);
      if (track === undefined) return;
      if (message.type === "end") this.#end(track, message.position);
      else track.chunks.push({ position: message.position, samples: message.samples, offset: 0 });
    }
  }

  /** Fill `out` with what is to be heard from `time` on. */
  render(out: Float32Array, time: number): void {
    out.fill(0);
    let at = this.#playTail(out);
    while (at < out.length) {
      const track = this.#tracks[0];
      const now = time + at / this.rate;
      if (track === undefined || !this.#primed(track, now)) break;
      const chunk = track.chunks[0];
      if (chunk !== undefined) at += this.#copy(track, chunk, out, at);
      else if (track.ended) this.#drained(track, now);
      else this.#ranDry(track, now);
    }
    this.#silence(out.length - at);
    this.#report(out.length, time + out.length / this.rate);
  }

  #open(id: number): void {
    this.#tracks.push({ id, chunks: [], ended: false, started: false, position: 0 });
  }

  #end(track: Track, position: number): void {
    track.ended = true;
    track.chunks = track.chunks.filter((chunk) => chunk.position < position);
    const last = track.chunks.at(-1);
    if (last === undefined) return;
    const length = Math.round(((position - last.position) * this.rate) / PTS_RATE);
    last.samples = last.samples.subarray(0, Math.max(length, last.offset));
  }

  /** Silent at once, but for a ramp so short that it is no sound, only the absence of a click. */
  #drop(id: number, cut: boolean): void {
    const index = this.#tracks.findIndex((track) => track.id === id);
    const [track] = index < 0 ? [] : this.#tracks.splice(index, 1);
    if (track === undefined || index > 0) return;
    const chunk = track.chunks[0];
    if (chunk !== undefined && track.started && !this.#priming && !cut) {
      this.#tail = chunk.samples.slice(chunk.offset, chunk.offset + this.#fade);
      ramp(this.#tail, 0, this.#tail.length);
    }
    this.#prime();
  }

  #playTail(out: Float32Array): number {
    const length = Math.min(out.length, this.#tail.length);
    out.set(this.#tail.subarray(0, length));
    this.#tail = this.#tail.subarray(length);
    return length;
  }

  #prime(): void {
    this.#priming = true;
    this.#waited = 0;
    this.#dry = undefined;
  }

  #primed(track: Track, now: number): boolean {
    if (!this.#priming) return true;
    const buffered = track.chunks.reduce((sum, chunk) => sum + chunk.samples.length - chunk.offset, 0);
    const enough = buffered >= this.#target || track.ended || (buffered > 0 && this.#waited >= this.#target);
    if (!enough) return false;
    this.#priming = false;
    if (buffered > 0) this.#begin(track, now);
    return true;
  }

  #begin(track: Track, time: number): void {
    if (!track.started) {
      track.started = true;
      this.tell({ type: "started", track: track.id, time });
    } else if (this.#dry !== undefined) {
      const gapMs = (this.#dry / this.rate) * 1000;
      this.#fadeIn = this.#fade;
      this.tell({ type: "resumed", track: track.id, position: track.position, time, gapMs });
    }
    this.#dry = undefined;
  }

  #copy(track: Track, chunk: Chunk, out: Float32Array, at: number): number {
    const length = Math.min(out.length - at, chunk.samples.length - chunk.offset);
    out.set(chunk.samples.subarray(chunk.offset, chunk.offset + length), at);
    chunk.offset += length;
    track.position = chunk.position + Math.round((chunk.offset * PTS_RATE) / this.rate);
    if (chunk.offset === chunk.samples.length) track.chunks.shift();
    if (this.#fadeIn > 0) this.#rise(out.subarray(at, at + length));
    // The sound stops here though more of it must come: not with a step.
    if (track.chunks.length === 0 && !track.ended) ramp(out, at, at + length);
    return length;
  }

  #rise(part: Float32Array): void {
    for (let i = 0; i < part.length && this.#fadeIn > 0; i += 1, this.#fadeIn -= 1) {
      part[i] = (part[i] as number) * (1 - this.#fadeIn / this.#fade);
    }
  }

  #ranDry(track: Track, time: number): void {
    this.#prime();
    this.#dry = 0;
    this.tell({ type: "dry", track: track.id, position: track.position, time });
  }

  #drained(track: Track, time: number): void {
    this.#tracks.shift();
    this.tell({ type: "drained", track: track.id, position: track.position, time });
    this.#prime();
  }

  #silence(samples: number): void {
    if (this.#dry !== undefined) this.#dry += samples;
    if ((this.#tracks[0]?.chunks.length ?? 0) > 0) this.#waited += samples;
  }

  #report(samples: number, time: number): void {
    this.#unreported += samples;
    const track = this.#tracks[0];
    if (track === undefined || this.#priming || this.#unreported * 1000 < REPORT_MS * this.rate) return;
    this.#unreported = 0;
    this.tell({ type: "played", track: track.id, position: track.position, time });
  }
}

/** Fall to zero over the samples from `from` to `to`. */
function ramp(samples: Float32Array, from: number, to: number): void {
  for (let i = from; i < to; i += 1) {
    samples[i] = (samples[i] as number) * (1 - (i - from + 1) / (to - from));
  }
}

// What an AudioWorkletGlobalScope has; the DOM's types do not know it.
interface WorkletScope {
  sampleRate: number;
  currentTime: number;
  AudioWorkletProcessor?: new () => { readonly port: MessagePort };
  registerProcessor(name: string, processor: unknown): void;
}

const scope = globalThis as unknown as WorkletScope;

if (scope.AudioWorkletProcessor !== undefined) {
  scope.registerProcessor(
    "cosystream-ring",
    class extends scope.AudioWorkletProcessor {
      readonly #ring = new Ring(scope.sampleRate, (message) => this.port.postMessage(message));

      constructor() {
        super();
        this.port.onmessage = (event: MessageEvent<ToRing>) => this.#ring.handle(event.data);
      }

      process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
        const out = outputs[0]?.[0];
        if (out !== undefined) this.#ring.render(out, scope.currentTime);
        return true;
      }
    },
  );
}
