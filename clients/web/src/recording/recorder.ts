/**
 * A few seconds from the microphone, as a WAVE file to make a voice of.
 *
 * As the microphone gives it: what browsers do for calls (echo, noise, loudness) is not wanted in a
 * voice. Needs a secure page (https or localhost), as microphones do.
 */

import { Emitter } from "../emitter.js";
import { CosystreamError, reason } from "../errors.js";
import type { Captured } from "./capture.js";
import { wav } from "./wav.js";

/** Servers take no more. */
const MAX_SECONDS = 30;
const CLIPPED = 0.999;
const LAST_BLOCK_MS = 500;

export interface RecorderOptions {
  /** It stops taking sound after so long, 30 by default. */
  maxSeconds?: number;
  /** One of `navigator.mediaDevices.enumerateDevices()`; without one, the browser's choice. */
  deviceId?: string;
  /** Where the package's `recording/capture.js` is, if not beside it. */
  captureUrl?: string | URL;
}

export interface Recording {
  /** WAVE, 16 bits, one channel, at the rate of the device. */
  audio: Blob;
  seconds: number;
  /** The loudest sample, 0 to 1. */
  peak: number;
}

export interface RecorderEvents {
  /** Some 20 times a second: loudness 0 to 1 of the newest sound, and how much there is in all. */
  level: { peak: number; clipped: boolean; seconds: number };
  /** It takes no more: as long as it may be (`full`), or the microphone has gone (`lost`). */
  ended: { why: "full" | "lost" };
}

interface Running {
  stream: MediaStream;
  context: AudioContext;
  node: AudioWorkletNode;
}

export class Recorder extends Emitter<RecorderEvents> {
  #running: Running | undefined;
  /** Of attempts: what belongs to one that was cancelled is let go. */
  #generation = 0;
  #chunks: Float32Array[] = [];
  #samples = 0;
  #peak = 0;
  #full = false;
  #finished: (() => void) | undefined;

  constructor(private readonly options: RecorderOptions = {}) {
    super();
  }

  get recording(): boolean {
    return this.#running !== undefined;
  }

  get seconds(): number {
    return this.#running === undefined ? 0 : this.#samples / this.#running.context.sampleRate;
  }

  /**
   * Ask for the microphone and begin. Rejects with `microphone_unavailable` (not a secure page),
   * `microphone_denied`, `microphone_missing` or `microphone_failed`.
   */
  async start(): Promise<void> {
    this.cancel();
    const generation = this.#generation;
    const stream = await microphone(this.options.deviceId);
    if (generation !== this.#generation) return release(stream);
    const context = new AudioContext();
    try {
      await context.audioWorklet.addModule(this.options.captureUrl ?? new URL("./capture.js", import.meta.url));
      await context.resume();
    } catch (error) {
      release(stream);
      void context.close();
      throw new CosystreamError("microphone_failed", reason(error));
    }
    if (generation !== this.#generation) {
      release(stream);
      return void context.close();
    }
    this.#begin(stream, context);
  }

  /** Forget what has been recorded so far and go on: the countdown is over. */
  restart(): void {
    this.#chunks = [];
    this.#samples = 0;
    this.#peak = 0;
    this.#full = false;
  }

  /** End it and have what was recorded. Rejects with `bad_state` where nothing is being recorded. */
  async stop(): Promise<Recording> {
    const running = this.#running;
    if (running === undefined) throw new CosystreamError("bad_state", "nothing is being recorded");
    await new Promise<void>((resolve) => {
      this.#finished = resolve;
      running.node.port.postMessage("stop");
      setTimeout(resolve, LAST_BLOCK_MS); // a device that has gone may take its worklet along
    });
    const { sampleRate } = running.context;
    const recording = { audio: wav(this.#chunks, sampleRate), seconds: this.#samples / sampleRate, peak: this.#peak };
    this.cancel();
    return recording;
  }

  /** Let the microphone go, and what was recorded with it. */
  cancel(): void {
    this.#generation += 1;
    const running = this.#running;
    this.#running = undefined;
    this.#finished?.();
    this.#finished = undefined;
    this.restart();
    if (running === undefined) return;
    running.node.port.onmessage = null;
    release(running.stream);
    void running.context.close();
    asSession("playback");
  }

  #begin(stream: MediaStream, context: AudioContext): void {
    const node = new AudioWorkletNode(context, "cosystream-capture", {
      channelCount: 1,
      channelCountMode: "explicit",
      outputChannelCount: [1],
    });
    node.port.onmessage = (event: MessageEvent<Captured>) => this.#take(event.data);
    // Nothing comes out of it; only what leads to the loudspeaker is sure to run.
    context.createMediaStreamSource(stream).connect(node).connect(context.destination);
    for (const track of stream.getAudioTracks()) track.onended = () => this.emit("ended", { why: "lost" });
    this.#running = { stream, context, node };
  }

  #take({ samples, last }: Captured): void {
    const running = this.#running;
    if (running === undefined) return;
    const room = Math.round((this.options.maxSeconds ?? MAX_SECONDS) * running.context.sampleRate) - this.#samples;
    const kept = samples.subarray(0, room);
    if (kept.length > 0) {
      this.#chunks.push(kept);
      this.#samples += kept.length;
      const peak = kept.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      this.#peak = Math.max(this.#peak, peak);
      this.emit("level", { peak, clipped: peak >= CLIPPED, seconds: this.seconds });
    }
    if (last) this.#finished?.();
    else if (kept.length === room && !this.#full) {
      this.#full = true;
      this.emit("ended", { why: "full" });
    }
  }
}

async function microphone(deviceId: string | undefined): Promise<MediaStream> {
  if (navigator.mediaDevices === undefined) {
    throw new CosystreamError("microphone_unavailable", "browsers give a microphone to https pages and localhost alone");
  }
  const audio: MediaTrackConstraints = {
    channelCount: 1,
    echoCancellation: false,
    noiseSuppression: false,
    autoGainControl: false,
    ...(deviceId === undefined ? {} : { deviceId: { exact: deviceId } }),
  };
  asSession("play-and-record");
  try {
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (error) {
    asSession("playback");
    const name = error instanceof DOMException ? error.name : "";
    throw new CosystreamError(REASONS[name] ?? "microphone_failed", reason(error));
  }
}

const REASONS: Record<string, string> = {
  NotAllowedError: "microphone_denied",
  SecurityError: "microphone_denied",
  NotFoundError: "microphone_missing",
  OverconstrainedError: "microphone_missing",
};

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) {
    track.onended = null;
    track.stop();
  }
}

/** On iPhones: what the page's sound is for. */
function asSession(type: string): void {
  const session = (navigator as { audioSession?: { type: string } }).audioSession;
  if (session !== undefined) session.type = type;
}
