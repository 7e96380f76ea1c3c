/** What a page is told while the client speaks. */
import type { DecoderPath } from "./decode/decoder.js";
import type { CosystreamError } from "./errors.js";
import type { ConnectionState } from "./session.js";
import type { Segment, Spoken, Word } from "./timeline.js";
import type { Result, Stats } from "./types.js";
import type { Utterance } from "./utterance.js";
export interface SpeakerEvents {
    state: ConnectionState;
    /** True: there is sound, and the browser wants a click before it is heard. */
    blocked: boolean;
    /** Which decoder is in use, and why no better one. */
    decoder: {
        path: DecoderPath;
        why: string;
    };
    /** How the sound gets out: an AudioWorklet, or scheduled buffers where there is none. */
    backend: {
        kind: "worklet" | "buffer";
        why: string;
    };
    /** The first sample of an utterance is being heard. */
    start: {
        utterance: Utterance;
    };
    segment: {
        utterance: Utterance;
        segment: Segment;
    };
    words: {
        utterance: Utterance;
        items: Word[];
        source: "align" | "estimate";
    };
    /** Loudness 0 to 1 of what has been decoded; `startMs` is its place in the utterance. */
    levels: {
        utterance: Utterance;
        startMs: number;
        stepMs: number;
        values: number[];
    };
    /** What is being heard, some 50 times a second. */
    progress: {
        utterance: Utterance;
        playedMs: number;
    } & Spoken;
    stats: Stats;
    warning: {
        code: string;
        message: string;
        utterance: Utterance | undefined;
    };
    error: {
        error: CosystreamError;
        utterance: Utterance | undefined;
    };
    done: {
        utterance: Utterance;
        result: Result;
    };
}
