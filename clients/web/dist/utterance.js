/**
 * One context: its text going out, its events coming in, and how it ends.
 *
 * Knows: what is said to the server, and said again where it was lost. Does not know: connections, how
 * packets become sound (`sound.ts`).
 */
import { STEP_MS } from "./audio/levels.js";
import { CosystreamError, fromServer } from "./errors.js";
import { opening } from "./options.js";
import { PTS_RATE, } from "./protocol.js";
import { Script } from "./script.js";
import { Sound } from "./sound.js";
import { Timeline } from "./timeline.js";
const LONGEST_PACKET_MS = 80;
const MAX_RESTARTS = 2;
const CANCEL_WAIT_MS = 2000;
/** A server that was started again is asked so often, and for so long, until its model is loaded. */
const LOADING_RETRY_MS = 500;
const LOADING_WAIT_MS = 180_000;
export class Utterance {
    id;
    options;
    host;
    /** Resolves when the last sample has been heard, or it was cancelled; rejects where it failed. */
    done;
    timeline;
    #script;
    #sound;
    #state = "waiting";
    #resolve;
    #reject;
    #opened = false;
    #restarts = 0;
    /** Since when it waits for a model that is being loaded again. */
    #loadingSince;
    /** It was refused for that, and so is what was sent after it. */
    #refused = false;
    #again;
    #firstPacketAt;
    /** When the text of the first segment was complete. */
    #askedAt = 0;
    #doneMessage;
    #failure;
    #settled = false;
    firstPacketMs;
    ttfaMs;
    underruns = 0;
    /** Silences because the text was not written yet. */
    pauses = 0;
    constructor(id, options, host) {
        this.id = id;
        this.options = options;
        this.host = host;
        this.#script = new Script(id);
        this.timeline = new Timeline(this.#script.text);
        this.#sound = new Sound(host.output, (sink) => host.decoder(sink), {
            levels: (startMs, values) => host.levels(this, startMs, values),
            undecodable: (error) => host.undecodable(this, error),
            empty: () => this.drained(),
        });
        this.done = new Promise((resolve, reject) => {
            this.#resolve = resolve;
            this.#reject = reject;
        });
        // Who listens to `error` need not await `done` as well.
        this.done.catch(() => undefined);
    }
    get state() {
        return this.#state;
    }
    /** The output's number for its sound. */
    get track() {
        return this.#sound.track;
    }
    /** Neither done nor cancelled nor failed. */
    get active() {
        return this.#state === "waiting" || this.#state === "speaking";
    }
    get opened() {
        return this.#opened;
    }
    /** All text that has been written to it. */
    get text() {
        return this.#script.text.text;
    }
    get playedMs() {
        return wholeMs(this.#sound.position);
    }
    /** What is being heard now. */
    get spoken() {
        return this.timeline.at(this.#sound.position);
    }
    /** Append text, of any length; a no-op once it is over, and a warning after its `end`. */
    write(delta) {
        if (!this.active)
            return;
        if (this.#script.endedAt === undefined)
            this.#send(this.#script.append(delta, performance.now()));
        else
            this.host.warning(this, { code: "context_ended", message: "text that is written after end() is not spoken" });
    }
    /** Speak what has been written, without waiting for a sentence to finish. */
    flush() {
        if (this.active && this.#script.endedAt === undefined)
            this.#send(this.#script.flush(performance.now()));
    }
    /** No more text. */
    end() {
        if (this.active)
            this.#send(this.#script.end(performance.now()));
    }
    /** Silent at once. */
    cancel() {
        if (!this.active)
            return;
        const played = this.playedMs;
        this.#stop();
        if (this.host.send({ type: "cancel", ctx: this.id, played_ms: played })) {
            setTimeout(() => this.#settleCancelled(undefined), CANCEL_WAIT_MS);
        }
        else
            this.#settleCancelled(undefined);
    }
    /** The server has it (again), with the text up to `seq`. */
    resumed(seq) {
        if (this.active && this.#doneMessage === undefined)
            this.#send(this.#script.replay(seq));
    }
    /** Tell the server all of it: for the first time, or since it knows nothing of it any more. */
    begin() {
        if (!this.active || this.#doneMessage !== undefined)
            return;
        clearTimeout(this.#again);
        this.#opened = false;
        this.#refused = false;
        this.#sound.restart();
        this.#send([this.#open(), ...this.#script.replay(0)]);
    }
    /** A message about this context. */
    receive(message) {
        if (message.type === "opened") {
            this.#opened = true;
            this.#loadingSince = undefined;
        }
        else if (message.type === "flushed")
            this.#script.flushed(message.id);
        else if (message.type === "cancelled")
            this.#cancelled(message);
        else if (!this.active)
            return;
        else if (message.type === "segment")
            this.host.segment(this, this.timeline.addSegment(message));
        else if (message.type === "words")
            this.host.words(this, this.timeline.addWords(message.items), message.source);
        else if (message.type === "done")
            this.#complete(message);
    }
    /** A packet of this context. */
    audio(header, packet) {
        if (!this.active)
            return;
        if (this.#firstPacketAt === undefined)
            this.#first();
        this.#sound.push(header, packet);
    }
    /** The server's word that something about it went wrong. */
    failed(message) {
        if (message.code === "text_gap")
            return this.#send(this.#script.replay(0));
        // `end` is said again after a resume, in case it was lost.
        if (message.code === "context_ended" && this.#script.endedAt !== undefined)
            return;
        if (message.code === "engine_restarted" && this.active && this.#restarts < MAX_RESTARTS) {
            this.#restarts += 1;
            return this.begin();
        }
        // Text that was sent behind an opening which was refused is refused as well.
        if (this.#refused || this.#failure !== undefined)
            return;
        if (message.code === "engine_loading" && this.#loadsAgain())
            return this.#wait(fromServer(message));
        const error = fromServer(message);
        this.host.error(this, error);
        if (message.fatal || !this.#opened)
            this.#fail(error);
    }
    /** There is no server to finish it: what has come is heard, then `done` rejects. */
    lost(error) {
        if (this.#state === "cancelled")
            return this.#settleCancelled(undefined);
        // All of it is here already.
        if (this.#doneMessage === undefined)
            this.#fail(error);
    }
    // --- what the output says -----------------------------------------------------------------
    started(time) {
        if (!this.active)
            return;
        this.#state = "speaking";
        this.ttfaMs = this.#sound.started(time) - this.#askedAt;
        this.host.measured(this);
    }
    /** Sound ran out at `position` and came back after `gapMs`. True where it came too late. */
    ranDry(position, gapMs) {
        const endedAt = this.#script.endedAt ?? Infinity;
        // Where a segment ended, but for a packet's remainder that was waiting for more.
        const ahead = (ms) => ms - (position / PTS_RATE) * 1000;
        const boundaries = [...this.timeline.segments.map(({ startMs }) => startMs), this.#doneMessage?.audio_ms ?? 0];
        const between = boundaries.some((ms) => ahead(ms) > -STEP_MS && ahead(ms) < LONGEST_PACKET_MS + STEP_MS);
        const unwritten = between && endedAt > performance.now() - gapMs;
        if (unwritten)
            this.pauses += 1;
        else
            this.underruns += 1;
        return !unwritten;
    }
    drained() {
        this.#sound.drained();
        if (this.#failure !== undefined)
            this.#finish("failed", () => this.#reject(this.#failure));
        else
            this.#finish("done", () => this.#resolve(this.#result("completed", undefined)));
    }
    /** What to report as heard, for the server's pacing, in ms; nothing before there is audio. */
    get reportMs() {
        if (!this.active || this.#firstPacketAt === undefined || this.#doneMessage !== undefined)
            return undefined;
        return wholeMs(this.#sound.reported);
    }
    // --- inside -------------------------------------------------------------------------------
    #send(messages) {
        // What was refused is begun again, with all of its text.
        if (!this.#refused)
            for (const message of messages)
                this.host.send(message);
    }
    #open() {
        return { type: "open", ctx: this.id, timestamps: true, ...opening(this.options) };
    }
    /** Some of it was heard before the server was started again, and it may be waited for. */
    #loadsAgain() {
        this.#loadingSince ??= performance.now();
        return this.active && this.#firstPacketAt !== undefined && performance.now() - this.#loadingSince < LOADING_WAIT_MS;
    }
    #wait(error) {
        this.#refused = true;
        clearTimeout(this.#again);
        this.#again = setTimeout(() => this.begin(), LOADING_RETRY_MS);
        this.host.warning(this, error);
    }
    #first() {
        this.#firstPacketAt = performance.now();
        this.#askedAt = this.#asked() ?? this.#firstPacketAt;
        this.firstPacketMs = this.#firstPacketAt - this.#askedAt;
        this.host.measured(this);
    }
    #asked() {
        const first = this.timeline.segments[0];
        const end = first === undefined ? 1 : Array.from(this.text.slice(0, first.charEnd)).length;
        return this.#script.completedAt(end);
    }
    #complete(message) {
        this.#doneMessage = message;
        void this.#sound.end(message.samples * 2);
    }
    #fail(error) {
        if (!this.active || this.#failure !== undefined)
            return;
        this.#failure = error;
        void this.#sound.end();
    }
    #stop() {
        this.#state = "cancelled";
        this.#sound.stop();
    }
    #cancelled(message) {
        // Of another's making: a context that interrupts, or the server's own.
        if (this.active)
            this.#stop();
        this.#settleCancelled(message);
    }
    #settleCancelled(message) {
        if (this.#settled)
            return;
        this.#finish("cancelled", () => this.#resolve(this.#result("cancelled", message)));
    }
    #finish(state, settle) {
        if (this.#settled)
            return;
        this.#settled = true;
        this.#state = state;
        settle();
        this.host.finished(this);
    }
    #result(reason, cancelled) {
        const heard = reason === "completed" ? this.text.length : this.spoken.charIndex;
        const done = this.#doneMessage;
        return {
            reason,
            audioMs: this.#sound.lengthMs,
            playedMs: this.playedMs,
            textSpoken: cancelled?.text_spoken ?? this.text.slice(0, heard),
            textRemaining: cancelled?.text_remaining ?? this.text.slice(heard),
            firstPacketMs: this.firstPacketMs,
            ttfaMs: this.ttfaMs,
            underruns: this.underruns,
            server: done && { firstPacketMs: done.first_packet_ms, ttfaMs: done.ttfa_ms, rtf: done.rtf },
        };
    }
}
function wholeMs(position) {
    return Math.floor((position / PTS_RATE) * 1000);
}
