/**
 * What a client has asked of a context, so that it can be said again: text in numbered deltas,
 * flushes, the end. Pure; the time is handed in.
 */
import { Deltas, GrowingText } from "./text.js";
export class Script {
    ctx;
    text = new GrowingText();
    #deltas = new Deltas();
    #steps = [];
    #flushed = new Set();
    #seq = 0;
    #flushes = 0;
    endedAt;
    constructor(ctx) {
        this.ctx = ctx;
    }
    /** The messages to send now; none for text that is not whole yet. */
    append(delta, now) {
        return this.#text(this.#deltas.push(delta), now);
    }
    flush(now) {
        this.#flushes += 1;
        return [this.#step({ type: "flush", ctx: this.ctx, id: `f${this.#flushes}` }, this.text.points, now)];
    }
    end(now) {
        if (this.endedAt !== undefined)
            return [];
        const rest = this.#text(this.#deltas.end(), now);
        this.endedAt = now;
        return [...rest, this.#step({ type: "end", ctx: this.ctx }, this.text.points, now)];
    }
    flushed(id) {
        this.#flushed.add(id);
    }
    /** Everything that the server may not have, of which it says that it has the text up to `seq`. */
    replay(seq) {
        return this.#steps
            .filter(({ message, seq: own }) => message.type !== "text" || own > seq)
            .map(({ message }) => message)
            .filter(({ type, id }) => type !== "flush" || seq === 0 || !this.#flushed.has(id));
    }
    /**
     * When the text up to a code point was complete, so that it could be spoken: at its last delta, or
     * at the flush or end that followed without more words.
     */
    completedAt(point) {
        const text = Array.from(this.text.text);
        const blank = (to) => text.slice(point, to).join("").trim() === "";
        const step = this.#steps.findLast(({ message, from, to }) => message.type === "text" ? from < point : blank(to));
        return step?.at;
    }
    #text(delta, now) {
        if (delta === "")
            return [];
        const from = this.text.points;
        this.text.append(delta);
        this.#seq += 1;
        return [this.#step({ type: "text", ctx: this.ctx, delta, seq: this.#seq }, from, now)];
    }
    #step(message, from, at) {
        this.#steps.push({ message, seq: this.#seq, at, from, to: this.text.points });
        return message;
    }
}
