/**
 * The client: speaks text through a cosystream server, in a page.
 *
 * Wires the session, the decoders, the loudspeaker and the utterances; each knows its own business.
 */
import type { DecoderPath } from "./decode/decoder.js";
import { Emitter } from "./emitter.js";
import type { SpeakerEvents } from "./events.js";
import { type ReadyMessage } from "./protocol.js";
import { type ConnectionState } from "./session.js";
import type { SpeakerOptions, SpeakOptions, Stats } from "./types.js";
import { Utterance } from "./utterance.js";
export declare class Speaker extends Emitter<SpeakerEvents> {
    #private;
    constructor(options?: SpeakerOptions);
    get state(): ConnectionState;
    /** There is sound that the browser keeps back until a click. */
    get blocked(): boolean;
    get decoder(): DecoderPath | undefined;
    /** What the server said of itself. */
    get server(): ReadyMessage | undefined;
    /** Utterances that are neither done nor cancelled, in order. */
    get utterances(): Utterance[];
    /** The last node before the loudspeaker, once `unlock` or `speak` was called: connect an analyser. */
    get node(): GainNode | undefined;
    get context(): AudioContext | undefined;
    get stats(): Stats;
    /** Connect before there is anything to say: the first packet comes that much sooner. */
    connect(): void;
    /** Call first thing in a click, and the browser lets the sound be heard. `speak` does it as well. */
    unlock(): void;
    /** Speak a text, or one that is still being written. */
    speak(text: string | AsyncIterable<string> | Iterable<string>, options?: SpeakOptions): Utterance;
    /** An utterance to `write` to, `flush` and `end` by hand. */
    open(options?: SpeakOptions): Utterance;
    /** Silent at once: every utterance is cancelled. */
    cancel(): void;
    /** Let everything go; the speaker may be used again afterwards. */
    close(): void;
}
