/**
 * The sound of one utterance: its packets decoded, measured and handed to the loudspeaker, and how
 * far it has been heard.
 *
 * Positions are samples at 48 kHz from the utterance's beginning. A context that is begun anew, since
 * its server was lost, makes the same sound again from the beginning: what was handed on is not
 * handed on twice. Knows: packets, samples. Does not know: text, messages, why the sound ends.
 */
import type { Output } from "./audio/output.js";
import type { TrackDecoder, TrackSink } from "./decode/track.js";
import type { CosystreamError } from "./errors.js";
import { type AudioHeader } from "./protocol.js";
export interface SoundEvents {
    levels(startMs: number, values: number[]): void;
    undecodable(error: CosystreamError): void;
    /** It has ended without a sample: the output has nothing to tell of it. */
    empty(): void;
}
export declare class Sound {
    #private;
    private readonly output;
    private readonly decoder;
    private readonly events;
    readonly track: number;
    constructor(output: Output, decoder: (sink: TrackSink) => TrackDecoder, events: SoundEvents);
    get lengthMs(): number;
    /** How far it has been heard. */
    get position(): number;
    /** How far the server is to take it as heard: it shall hurry through what was heard before it began anew. */
    get reported(): number;
    push(header: AudioHeader, packet: Uint8Array): void;
    /** What comes from now on is of a context that begins anew. */
    restart(): void;
    /** No more packets come: once all are decoded, the output plays out what there is, up to `length`. */
    end(length?: number): Promise<void>;
    /** Silent at once. */
    stop(): void;
    /** The output plays its first sample at `time`. When the first that is no silence is heard, as `performance.now()` counts. */
    started(time: number): number;
    /** The output has played all of it. */
    drained(): void;
}
