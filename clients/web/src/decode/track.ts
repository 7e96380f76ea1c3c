/**
 * One context's packets into one context's samples, over whatever decoders it takes.
 *
 * A decoder that fails (or falls silent) in mid-stream is replaced by the next path, and the packets
 * it still owed are decoded again, after a run-up over the two before them so that the new one
 * has settled. Cancelling ends a generation; each result of an older one is dropped.
 */

import { CosystreamError, reason } from "../errors.js";
import type { Decoder, DecoderPath, DecoderSink } from "./decoder.js";
import { opusSamples } from "./packet.js";
import type { DecoderPaths } from "./paths.js";

/** Packets of 80 ms and less: an Opus decoder settles within 80 ms. */
const RUN_UP = 2;
const SILENT_MS = 2000;

interface Packet {
  data: Uint8Array;
  /** Of its first decoded sample, pre-skip included. */
  position: number;
  samples: number;
  /** How many have come out. */
  out: number;
}

export interface TrackSink {
  /** `position` counts 48 kHz samples from the first that is to be heard. */
  samples(position: number, samples: Float32Array): void;
  /** There is no decoder left for this codec. */
  failed(error: CosystreamError): void;
}

export class TrackDecoder {
  #generation = 0;
  #decoder: Decoder | undefined;
  #path: DecoderPath | undefined;
  #opening: Promise<void> | undefined;
  /** Not yet given to a decoder. */
  #waiting: Packet[] = [];
  /** Given, and not yet come out whole. */
  #owed: Packet[] = [];
  /** Come out: the run-up for a new decoder. */
  #recent: Packet[] = [];
  /** Where the next packet begins. */
  #end = 0;
  #silent: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly paths: DecoderPaths,
    private readonly codec: "opus" | "pcm_s16le",
    private readonly preSkip: number,
    private readonly sink: TrackSink,
  ) {}

  /** `pts` is used only where audio before the packet is missing. */
  push(data: Uint8Array, pts: number, discontinuity: boolean): void {
    const position = discontinuity ? pts : this.#end;
    const samples = this.codec === "opus" ? opusSamples(data) : data.length >> 1;
    this.#end = position + samples;
    this.#waiting.push({ data, position, samples, out: 0 });
    this.#feed();
  }

  /** Resolves when all that was pushed has come out, or nothing more can. */
  async drain(): Promise<void> {
    const generation = this.#generation;
    while (generation === this.#generation) {
      const decoder = this.#decoder;
      if (this.#opening !== undefined) await this.#opening;
      else if (decoder === undefined || this.#owed.length === 0) return;
      else if (await this.#flushed(decoder)) return;
    }
  }

  close(): void {
    this.#generation += 1;
    clearTimeout(this.#silent);
    this.#decoder?.close();
    this.#decoder = undefined;
    this.#waiting = [];
    this.#owed = [];
  }

  #feed(): void {
    if (this.#decoder === undefined) {
      this.#opening ??= this.#open();
      return;
    }
    while (this.#decoder !== undefined && this.#waiting.length > 0) {
      const packet = this.#waiting.shift() as Packet;
      this.#owed.push({ ...packet, out: 0 });
      this.#listen();
      const decoder = this.#decoder;
      try {
        decoder.decode(packet.data);
      } catch (error) {
        this.#lost(decoder, error);
      }
    }
  }

  async #open(): Promise<void> {
    const generation = this.#generation;
    const sink: DecoderSink = {
      samples: (samples) => this.#decoder === own.decoder && this.#came(samples),
      failed: (error) => this.#lost(own.decoder, error),
    };
    const own: { decoder?: Decoder } = {};
    try {
      const { path, decoder } = await (this.codec === "opus" ? this.paths.opus(sink) : this.paths.pcm(sink));
      this.#opening = undefined;
      if (generation !== this.#generation) return decoder.close();
      own.decoder = decoder;
      this.#decoder = decoder;
      this.#path = path;
    } catch (error) {
      this.#opening = undefined;
      if (generation === this.#generation) this.sink.failed(asError(error));
      return;
    }
    this.#feed();
  }

  #came(samples: Float32Array): void {
    let rest = samples;
    while (rest.length > 0 && this.#owed[0] !== undefined) {
      const packet = this.#owed[0];
      // Some decoder may have dropped the pre-skip itself: then the first output is that much short.
      const dropped = packet.position === 0 && packet.out === 0 && rest.length === packet.samples - this.preSkip;
      if (dropped) packet.out = this.preSkip;
      const part = rest.subarray(0, packet.samples - packet.out);
      rest = rest.subarray(part.length);
      this.#deliver(packet.position + packet.out, part);
      packet.out += part.length;
      if (packet.out === packet.samples) this.#settle();
    }
    this.#listen();
  }

  #deliver(position: number, samples: Float32Array): void {
    const cut = Math.max(0, this.preSkip - position);
    if (cut < samples.length) this.sink.samples(position + cut - this.preSkip, samples.subarray(cut));
  }

  #settle(): void {
    const packet = this.#owed.shift() as Packet;
    this.#recent = [...this.#recent, packet].slice(-RUN_UP);
  }

  async #flushed(decoder: Decoder): Promise<boolean> {
    try {
      await decoder.flush();
    } catch (error) {
      this.#lost(decoder, error);
    }
    return decoder === this.#decoder;
  }

  #lost(decoder: Decoder | undefined, error: unknown): void {
    if (decoder === undefined || decoder !== this.#decoder) return;
    clearTimeout(this.#silent);
    this.#decoder = undefined;
    if (this.#path !== undefined) this.paths.failed(this.#path, error);
    decoder.close();
    this.#waiting = [...this.#recent, ...this.#owed, ...this.#waiting];
    this.#recent = [];
    this.#owed = [];
    this.#feed();
  }

  /** A decoder that takes packets and gives nothing back has failed without a word. */
  #listen(): void {
    clearTimeout(this.#silent);
    if (this.#owed.length === 0) return;
    const decoder = this.#decoder;
    this.#silent = setTimeout(() => this.#lost(decoder, new Error("the decoder puts nothing out")), SILENT_MS);
  }
}

function asError(error: unknown): CosystreamError {
  return error instanceof CosystreamError ? error : new CosystreamError("no_decoder", reason(error));
}
