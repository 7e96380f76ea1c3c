/**
 * What a client has asked of a context, so that it can be said again: text in numbered deltas,
 * flushes, the end. Pure; the time is handed in.
 */

import type { ClientMessage } from "./protocol.js";
import { Deltas, GrowingText } from "./text.js";

interface Step {
  message: ClientMessage;
  seq: number;
  /** When it was asked, and the range of code points that it brought. */
  at: number;
  from: number;
  to: number;
}

export class Script {
  readonly text = new GrowingText();
  readonly #deltas = new Deltas();
  readonly #steps: Step[] = [];
  readonly #flushed = new Set<unknown>();
  #seq = 0;
  #flushes = 0;
  endedAt: number | undefined;

  constructor(private readonly ctx: string) {}

  /** The messages to send now; none for text that is not whole yet. */
  append(delta: string, now: number): ClientMessage[] {
    return this.#text(this.#deltas.push(delta), now);
  }

  flush(now: number): ClientMessage[] {
    this.#flushes += 1;
    return [this.#step({ type: "flush", ctx: this.ctx, id: `f${this.#flushes}` }, this.text.points, now)];
  }

  end(now: number): ClientMessage[] {
    if (this.endedAt !== undefined) return [];
    const rest = this.#text(this.#deltas.end(), now);
    this.endedAt = now;
    return [...rest, this.#step({ type: "end", ctx: this.ctx }, this.text.points, now)];
  }

  flushed(id: string): void {
    this.#flushed.add(id);
  }

  /** Everything that the server may not have, of which it says that it has the text up to `seq`. */
  replay(seq: number): ClientMessage[] {
    return this.#steps
      .filter(({ message, seq: own }) => message.type !== "text" || own > seq)
      .map(({ message }) => message)
      .filter(({ type, id }) => type !== "flush" || seq === 0 || !this.#flushed.has(id));
  }

  /**
   * When the text up to a code point was complete, so that it could be spoken: at its last delta, or
   * at the flush or end that followed without more words.
   */
  completedAt(point: number): number | undefined {
    const text = Array.from(this.text.text);
    const blank = (to: number) => text.slice(point, to).join("").trim() === "";
    const step = this.#steps.findLast(({ message, from, to }) =>
      message.type === "text" ? from < point : blank(to),
    );
    return step?.at;
  }

  #text(delta: string, now: number): ClientMessage[] {
    if (delta === "") return [];
    const from = this.text.points;
    this.text.append(delta);
    this.#seq += 1;
    return [this.#step({ type: "text", ctx: this.ctx, delta, seq: this.#seq }, from, now)];
  }

  #step(message: ClientMessage, from: number, at: number): ClientMessage {
    this.#steps.push({ message, seq: this.#seq, at, from, to: this.text.points });
    return message;
  }
}
