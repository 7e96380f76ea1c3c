/**
 * What a client has asked of a context, so that it can be said again: text in numbered deltas,
 * flushes, the end. Pure; the time is handed in.
 */
import type { ClientMessage } from "./protocol.js";
import { GrowingText } from "./text.js";
export declare class Script {
    #private;
    private readonly ctx;
    readonly text: GrowingText;
    endedAt: number | undefined;
    constructor(ctx: string);
    /** The messages to send now; none for text that is not whole yet. */
    append(delta: string, now: number): ClientMessage[];
    flush(now: number): ClientMessage[];
    end(now: number): ClientMessage[];
    flushed(id: string): void;
    /** Everything that the server may not have, of which it says that it has the text up to `seq`. */
    replay(seq: number): ClientMessage[];
    /**
     * When the text up to a code point was complete, so that it could be spoken: at its last delta, or
     * at the flush or end that followed without more words.
     */
    completedAt(point: number): number | undefined;
}
