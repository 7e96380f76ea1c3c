/**
 * Tracks of samples at 48 kHz to the loudspeaker, one after the other, and the account of what has
 * been heard.
 *
 * What has not been played is kept, so that a context that dies is replaced without loss.
 */
import { type Backend } from "./backend.js";
import { Device } from "./device.js";
import { JitterTarget } from "./jitter.js";
export interface OutputEvents {
    started(track: number, time: number): void;
    played(track: number): void;
    underrun(track: number, position: number, gapMs: number): void;
    drained(track: number): void;
    blocked(blocked: boolean): void;
    /** How the loudspeaker is reached, and why not by the better way. */
    backend(kind: Backend["kind"], why: string): void;
}
export declare class Output {
    #private;
    private readonly workletUrl;
    private readonly events;
    readonly jitter: JitterTarget;
    readonly device: Device;
    constructor(workletUrl: string | URL, jitter: [number, number] | undefined, events: OutputEvents);
    /** What the sound passes through last: for analysers, recorders, a volume of one's own. */
    get node(): GainNode | undefined;
    /** Call inside a click. */
    unlock(): void;
    /** Tracks are heard in the order in which they are opened. */
    open(id: number): void;
    push(id: number, position: number, samples: Float32Array): void;
    /** All has been pushed; nothing beyond `end` is to be heard. */
    end(id: number, end: number): void;
    drop(id: number): void;
    /** How far the track has been heard, in samples at 48 kHz. */
    heard(id: number): number;
    /** When a moment of the context's clock is heard, on `performance.now()`'s. */
    heardAt(time: number): number;
    close(): void;
    /** More came too late: from now on more is kept in hand. */
    late(): void;
}
