/**
 * One context: its text going out, its events coming in, and how it ends.
 *
 * Knows: what is said to the server, and said again where it was lost. Does not know: connections, how
 * packets become sound (`sound.ts`).
 */
import type { Output } from "./audio/output.js";
import type { TrackDecoder, TrackSink } from "./decode/track.js";
import { CosystreamError } from "./errors.js";
import { type AudioHeader, type ClientMessage, type ContextMessage, type ErrorMessage } from "./protocol.js";
import { type Segment, type Spoken, Timeline, type Word } from "./timeline.js";
import type { Result, SpeakOptions, UtteranceState } from "./types.js";
/** What an utterance is given by the speaker it belongs to. */
export interface Host {
    readonly output: Output;
    send(message: ClientMessage): boolean;
    decoder(sink: TrackSink): TrackDecoder;
    segment(utterance: Utterance, segment: Segment): void;
    words(utterance: Utterance, items: Word[], source: "align" | "estimate"): void;
    levels(utterance: Utterance, startMs: number, values: number[]): void;
    measured(utterance: Utterance): void;
    /** Opus cannot be decoded here any more: a session with PCM is needed. */
    undecodable(utterance: Utterance, error: CosystreamError): void;
    error(utterance: Utterance, error: CosystreamError): void;
    /** It goes on: once the server has loaded its model again, or without a text that came too late. */
    warning(utterance: Utterance, what: {
        code: string;
        message: string;
    }): void;
    finished(utterance: Utterance): void;
}
export declare class Utterance {
    #private;
    readonly id: string;
    readonly options: SpeakOptions;
    private readonly host;
    /** Resolves when the last sample has been heard, or it was cancelled; rejects where it failed. */
    readonly done: Promise<Result>;
    readonly timeline: Timeline;
    firstPacketMs: number | undefined;
    ttfaMs: number | undefined;
    underruns: number;
    /** Silences because the text was not written yet. */
    pauses: number;
    constructor(id: string, options: SpeakOptions, host: Host);
    get state(): UtteranceState;
    /** The output's number for its sound. */
    get track(): number;
    /** Neither done nor cancelled nor failed. */
    get active(): boolean;
    get opened(): boolean;
    /** All text that has been written to it. */
    get text(): string;
    get playedMs(): number;
    /** What is being heard now. */
    get spoken(): Spoken;
    /** Append text, of any length; a no-op once it is over, and a warning after its `end`. */
    write(delta: string): void;
    /** Speak what has been written, without waiting for a sentence to finish. */
    flush(): void;
    /** No more text. */
    end(): void;
    /** Silent at once. */
    cancel(): void;
    /** The server has it (again), with the text up to `seq`. */
    resumed(seq: number): void;
    /** Tell the server all of it: for the first time, or since it knows nothing of it any more. */
    begin(): void;
    /** A message about this context. */
    receive(message: ContextMessage): void;
    /** A packet of this context. */
    audio(header: AudioHeader, packet: Uint8Array): void;
    /** The server's word that something about it went wrong. */
    failed(message: ErrorMessage): void;
    /** There is no server to finish it: what has come is heard, then `done` rejects. */
    lost(error: CosystreamError): void;
    started(time: number): void;
    /** Sound ran out at `position` and came back after `gapMs`. True where it came too late. */
    ranDry(position: number, gapMs: number): boolean;
    drained(): void;
    /** What to report as heard, for the server's pacing, in ms; nothing before there is audio. */
    get reportMs(): number | undefined;
}
