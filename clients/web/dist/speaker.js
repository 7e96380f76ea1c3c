/**
 * The client: speaks text through a cosystream server, in a page.
 *
 * Wires the session, the decoders, the loudspeaker and the utterances; each knows its own business.
 */
import { streamUrl } from "./address.js";
import { STEP_MS } from "./audio/levels.js";
import { Output } from "./audio/output.js";
import { DecoderPaths } from "./decode/paths.js";
import { TrackDecoder } from "./decode/track.js";
import { Emitter } from "./emitter.js";
import { CosystreamError, fromServer, reason } from "./errors.js";
import { speakOptions, unknownOptions } from "./options.js";
import {} from "./protocol.js";
import { Session } from "./session.js";
import { Utterance } from "./utterance.js";
const REPORT_MS = 250;
const SYNC = "sync";
/** Warnings about what this client does by itself: a late `cancel`, what was heard before a server was started again. */
const OURS = new Set(["not_active", "played_clamped"]);
export class Speaker extends Emitter {
    #options;
    #paths;
    #output;
    #session;
    #utterances = new Map();
    #sids = new Map();
    #host;
    #ready;
    #report;
    #count = 0;
    #latest;
    #totals = { packets: 0, bytes: 0, underruns: 0, pauses: 0 };
    constructor(options = {}) {
        super();
        this.#options = options;
        const { workletUrl, wasmUrl } = options;
        this.#paths = new DecoderPaths(wasmUrl ?? new URL("./opus-decoder.wasm", import.meta.url), (path, why) => this.emit("decoder", { path, why }));
        this.#output = new Output(workletUrl ?? new URL("./audio/worklet.js", import.meta.url), options.jitterMs, {
            started: (track, time) => this.#started(track, time),
            played: (track) => this.#played(track),
            underrun: (track, position, gapMs) => this.#underrun(track, position, gapMs),
            drained: (track) => this.#byTrack(track)?.drained(),
            blocked: (blocked) => this.emit("blocked", blocked),
            backend: (kind, why) => this.emit("backend", { kind, why }),
        });
        this.#session = new Session({
            url: streamUrl(options.url, globalThis.document?.baseURI),
            token: options.token,
            getToken: options.getToken,
            hello: () => this.#hello(),
        }, {
            state: (state) => this.emit("state", state),
            ready: (ready) => this.#sync(ready),
            message: (message) => this.#message(message),
            audio: (header, packet) => this.#audio(header, packet),
            lost: (error) => this.#lost(error),
        });
        this.#host = this.#hosting();
    }
    get state() {
        return this.#session.state;
    }
    /** There is sound that the browser keeps back until a click. */
    get blocked() {
        return this.#output.device.blocked;
    }
    get decoder() {
        return this.#paths.current;
    }
    /** What the server said of itself. */
    get server() {
        return this.#ready;
    }
    /** Utterances that are neither done nor cancelled, in order. */
    get utterances() {
        return [...this.#utterances.values()].filter((utterance) => utterance.active);
    }
    /** The last node before the loudspeaker, once `unlock` or `speak` was called: connect an analyser. */
    get node() {
        return this.#output.node;
    }
    get context() {
        return this.#output.device.context;
    }
    get stats() {
        return {
            firstPacketMs: this.#latest?.firstPacketMs,
            ttfaMs: this.#latest?.ttfaMs,
            ...this.#totals,
            bufferMs: this.#output.jitter.ms,
            reconnects: this.#session.reconnects,
            duplicates: this.#session.duplicates,
        };
    }
    /** Connect before there is anything to say: the first packet comes that much sooner. */
    connect() {
        this.#session.connect();
    }
    /** Call first thing in a click, and the browser lets the sound be heard. `speak` does it as well. */
    unlock() {
        this.#output.unlock();
    }
    /** Speak a text, or one that is still being written. */
    speak(text, options = {}) {
        const utterance = this.open(options);
        if (typeof text === "string") {
            utterance.write(text);
            utterance.end();
        }
        else
            void this.#feed(utterance, text);
        return utterance;
    }
    /** An utterance to `write` to, `flush` and `end` by hand. */
    open(options = {}) {
        this.unlock();
        const own = { ...speakOptions(this.#options), ...options };
        if (own.when === "interrupt")
            this.cancel();
        this.#count += 1;
        const utterance = new Utterance(`web-${this.#count}`, own, this.#host);
        this.#utterances.set(utterance.id, utterance);
        this.#latest = utterance;
        this.#session.busy(true);
        this.#report ??= setInterval(() => this.#reportPlayed(), REPORT_MS);
        for (const message of unknownOptions(options))
            this.emit("warning", { code: "unknown_field", message, utterance });
        if (this.state === "ready")
            utterance.begin();
        return utterance;
    }
    /** Silent at once: every utterance is cancelled. */
    cancel() {
        for (const utterance of this.utterances)
            utterance.cancel();
    }
    /** Let everything go; the speaker may be used again afterwards. */
    close() {
        this.cancel();
        this.#session.close();
        this.#output.close();
        clearInterval(this.#report);
        this.#report = undefined;
    }
    async #feed(utterance, text) {
        try {
            for await (const delta of text) {
                if (!utterance.active)
                    return;
                utterance.write(delta);
            }
            utterance.end();
        }
        catch (error) {
            utterance.end();
            const iterable = Symbol.iterator in Object(text) || Symbol.asyncIterator in Object(text);
            const why = iterable ? reason(error) : `a text is a string or an iterable of strings, not ${String(text)}`;
            this.emit("error", { error: new CosystreamError("text_failed", why), utterance });
        }
    }
    async #hello() {
        const path = await this.#paths.choose();
        const { bitrate, metadata, traceparent } = this.#options;
        const audio = path === "pcm" ? { codec: "pcm_s16le", rate: 48_000 } : { codec: "opus", ...(bitrate && { bitrate }) };
        return { type: "hello", version: 1, audio, ...(metadata && { metadata }), ...(traceparent && { traceparent }) };
    }
    /** Bring the server up to what is wanted of it. */
    #sync(ready) {
        this.#ready = ready;
        const known = new Map((ready.resumed ? (ready.contexts ?? []) : []).map((context) => [context.ctx, context]));
        if (!ready.resumed)
            this.#sids.clear();
        for (const { ctx, sid, text_seq } of known.values()) {
            const utterance = this.#utterances.get(ctx);
            if (utterance?.active !== true)
                this.#session.send({ type: "cancel", ctx });
            else {
                this.#sids.set(sid, utterance);
                utterance.resumed(text_seq);
            }
        }
        const unknown = this.utterances.filter(({ id }) => !known.has(id));
        if (!ready.resumed)
            for (const utterance of unknown)
                utterance.begin();
        // It may have ended meanwhile, and the server is about to say so: its answer comes after that.
        else if (unknown.length > 0)
            this.#session.send({ type: "ping", id: SYNC });
        this.#stats();
    }
    #message(message) {
        const utterance = "ctx" in message && message.ctx !== undefined ? this.#utterances.get(message.ctx) : undefined;
        if (message.type === "pong") {
            if (message.id === SYNC)
                for (const missing of this.utterances)
                    if (!missing.opened)
                        missing.begin();
        }
        else if (message.type === "warning") {
            if (!OURS.has(message.code))
                this.emit("warning", { code: message.code, message: message.message, utterance });
        }
        else if (message.type === "error") {
            if (utterance !== undefined)
                utterance.failed(message);
            else if (message.ctx === undefined && !message.fatal && message.code !== "resume_unknown")
                this.emit("error", { error: fromServer(message), utterance });
        }
        else if (message.type === "going_away") {
            this.emit("warning", { code: "going_away", message: "the server is about to stop", utterance });
        }
        else if (utterance !== undefined) {
            if (message.type === "opened" && utterance.active)
                this.#sids.set(message.sid, utterance);
            utterance.receive(message);
        }
    }
    #audio(header, packet) {
        this.#totals.packets += 1;
        this.#totals.bytes += packet.length;
        this.#sids.get(header.sid)?.audio(header, packet);
    }
    #lost(error) {
        this.emit("error", { error, utterance: undefined });
        for (const utterance of [...this.#utterances.values()])
            utterance.lost(error);
    }
    #hosting() {
        return {
            output: this.#output,
            send: (message) => this.#session.send(message),
            decoder: (sink) => {
                const { codec, pre_skip } = this.#ready.audio;
                return new TrackDecoder(this.#paths, codec, pre_skip, sink);
            },
            segment: (utterance, segment) => this.emit("segment", { utterance, segment }),
            words: (utterance, items, source) => this.emit("words", { utterance, items, source }),
            levels: (utterance, startMs, values) => this.emit("levels", { utterance, startMs, stepMs: STEP_MS, values }),
            measured: () => this.#stats(),
            undecodable: () => this.#session.restart(),
            error: (utterance, error) => this.emit("error", { error, utterance }),
            warning: (utterance, { code, message }) => this.emit("warning", { code, message, utterance }),
            finished: (utterance) => this.#finished(utterance),
        };
    }
    #finished(utterance) {
        this.#utterances.delete(utterance.id);
        for (const [sid, owner] of this.#sids)
            if (owner === utterance)
                this.#sids.delete(sid);
        void utterance.done.then((result) => this.emit("done", { utterance, result }), () => undefined);
        this.#stats();
        if (this.#utterances.size > 0)
            return;
        this.#session.busy(false);
        clearInterval(this.#report);
        this.#report = undefined;
    }
    #byTrack(track) {
        return [...this.#utterances.values()].find((utterance) => utterance.track === track);
    }
    #started(track, time) {
        const utterance = this.#byTrack(track);
        if (utterance === undefined)
            return;
        utterance.started(time);
        this.emit("start", { utterance });
    }
    #played(track) {
        const utterance = this.#byTrack(track);
        if (utterance === undefined)
            return;
        this.emit("progress", { utterance, playedMs: utterance.playedMs, ...utterance.spoken });
    }
    #underrun(track, position, gapMs) {
        if (this.#byTrack(track)?.ranDry(position, gapMs) === true) {
            this.#totals.underruns += 1;
            this.#output.late();
        }
        else
            this.#totals.pauses += 1;
        this.#stats();
    }
    /** Steers the server's pacing; goes on while the sound is blocked, so that it waits as well. */
    #reportPlayed() {
        for (const utterance of this.utterances) {
            const ms = utterance.reportMs;
            if (ms === undefined)
                continue;
            this.#session.send({ type: "played", ctx: utterance.id, pts_ms: ms });
            return;
        }
    }
    #stats() {
        this.emit("stats", this.stats);
    }
}
