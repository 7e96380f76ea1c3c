/**
 * The sound of one utterance: its packets decoded, measured and handed to the loudspeaker, and how
 * far it has been heard.
 *
 * Positions are samples at 48 kHz from the utterance's beginning. A context that is begun anew, since
 * its server was lost, makes the same sound again from the beginning: what was handed on is not
 * handed on twice. Knows: packets, samples. Does not know: text, messages, why the sound ends.
 */

import { LevelMeter } from "./audio/levels.js";
import type { Output } from "./audio/output.js";
import type { TrackDecoder, TrackSink } from "./decode/track.js";
import type { CosystreamError } from "./errors.js";
import { type AudioHeader, PTS_RATE } from "./protocol.js";

export interface SoundEvents {
  levels(startMs: number, values: number[]): void;
  undecodable(error: CosystreamError): void;
  /** It has ended without a sample: the output has nothing to tell of it. */
  empty(): void;
}

const AUDIBLE = 0.003;

let tracks = 0;

export class Sound {
  readonly track = ++tracks;
  readonly #levels = new LevelMeter();
  #decoder: TrackDecoder | undefined;
  /** Of decoders: whatever comes of an older one is dropped. */
  #generation = 0;
  #begun = false;
  #playing = false;
  /** End of the samples handed to the output. */
  #end = 0;
  /** Where the context that is now at work has got to (less than `#end` after it was begun anew). */
  #received = 0;
  #heard = 0;
  #audible: number | undefined;

  constructor(
    private readonly output: Output,
    private readonly decoder: (sink: TrackSink) => TrackDecoder,
    private readonly events: SoundEvents,
  ) {}

  get lengthMs(): number {
    return (this.#end / PTS_RATE) * 1000;
  }

  /** How far it has been heard. */
  get position(): number {
    return this.#playing ? this.output.heard(this.track) : this.#heard;
  }

  /** How far the server is to take it as heard: it shall hurry through what was heard before it began anew. */
  get reported(): number {
    return this.#received < this.#end - PTS_RATE ? this.#received : this.position;
  }

  push(header: AudioHeader, packet: Uint8Array): void {
    if (!this.#begun) this.output.open(this.track);
    this.#begun = true;
    this.#received = header.pts;
    this.#decoder ??= this.decoder(this.#sink());
    this.#decoder.push(packet, header.pts, header.discontinuity);
  }

  /** What comes from now on is of a context that begins anew. */
  restart(): void {
    this.#received = 0;
    this.#forget();
  }

  /** No more packets come: once all are decoded, the output plays out what there is, up to `length`. */
  async end(length = Infinity): Promise<void> {
    const generation = this.#generation;
    await this.#decoder?.drain();
    if (generation !== this.#generation) return; // stopped, or begun anew
    this.#decoder?.close();
    if (!this.#begun) return this.events.empty();
    this.#end = Math.min(this.#end, length);
    this.output.end(this.track, this.#end);
  }

  /** Silent at once. */
  stop(): void {
    this.#heard = this.position;
    this.#playing = false;
    this.#forget();
    this.output.drop(this.track);
  }

  /** The output plays its first sample at `time`. When the first that is no silence is heard, as `performance.now()` counts. */
  started(time: number): number {
    this.#playing = true;
    return this.output.heardAt(time + (this.#audible ?? 0) / PTS_RATE);
  }

  /** The output has played all of it. */
  drained(): void {
    this.#heard = this.#end;
    this.#playing = false;
  }

  #forget(): void {
    this.#generation += 1;
    this.#decoder?.close();
    this.#decoder = undefined;
  }

  #sink(): TrackSink {
    const generation = this.#generation;
    return {
      samples: (position, samples) => generation === this.#generation && this.#decoded(position, samples),
      failed: (error) => generation === this.#generation && this.events.undecodable(error),
    };
  }

  #decoded(position: number, samples: Float32Array): void {
    const known = Math.max(0, this.#end - position);
    if (known >= samples.length) return;
    const fresh = samples.subarray(known);
    this.#measure(position + known, fresh);
    this.#end = position + samples.length;
    this.output.push(this.track, position + known, fresh);
  }

  #measure(position: number, samples: Float32Array): void {
    if (this.#audible === undefined) {
      const index = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
      if (index >= 0) this.#audible = position + index;
    }
    const { startMs } = this.#levels;
    const values = this.#levels.push(samples);
    if (values.length > 0) this.events.levels(startMs, values);
  }
}
