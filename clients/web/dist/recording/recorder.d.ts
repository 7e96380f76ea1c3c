/**
 * A few seconds from the microphone, as a WAVE file to make a voice of.
 *
 * As the microphone gives it: what browsers do for calls (echo, noise, loudness) is not wanted in a
 * voice. Needs a secure page (https or localhost), as microphones do.
 */
import { Emitter } from "../emitter.js";
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
    level: {
        peak: number;
        clipped: boolean;
        seconds: number;
    };
    /** It takes no more: as long as it may be (`full`), or the microphone has gone (`lost`). */
    ended: {
        why: "full" | "lost";
    };
}
export declare class Recorder extends Emitter<RecorderEvents> {
    #private;
    private readonly options;
    constructor(options?: RecorderOptions);
    get recording(): boolean;
    get seconds(): number;
    /**
     * Ask for the microphone and begin. Rejects with `microphone_unavailable` (not a secure page),
     * `microphone_denied`, `microphone_missing` or `microphone_failed`.
     */
    start(): Promise<void>;
    /** Forget what has been recorded so far and go on: the countdown is over. */
    restart(): void;
    /** End it and have what was recorded. Rejects with `bad_state` where nothing is being recorded. */
    stop(): Promise<Recording>;
    /** Let the microphone go, and what was recorded with it. */
    cancel(): void;
}
