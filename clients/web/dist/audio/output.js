/**
 * Tracks of samples at 48 kHz to the loudspeaker, one after the other, and the account of what has
 * been heard.
 *
 * What has not been played is kept, so that a context that dies is replaced without loss.
 */
import { PTS_RATE } from "../protocol.js";
import { reason } from "../errors.js";
import { BufferBackend, workletBackend } from "./backend.js";
import { Device } from "./device.js";
import { JitterTarget } from "./jitter.js";
import { Resampler } from "./resampler.js";
export class Output {
    workletUrl;
    events;
    jitter;
    device;
    #backend;
    #opening = false;
    #generation = 0;
    #volume;
    #tracks = new Map();
    constructor(workletUrl, jitter, events) {
        this.workletUrl = workletUrl;
        this.events = events;
        this.jitter = new JitterTarget(...(jitter ?? []));
        this.device = new Device({
            blocked: (blocked) => events.blocked(blocked),
            replaced: () => this.unlock(),
        });
    }
    /** What the sound passes through last: for analysers, recorders, a volume of one's own. */
    get node() {
        return this.#volume;
    }
    /** Call inside a click. */
    unlock() {
        const context = this.device.unlock();
        if (this.#volume?.context !== context) {
            this.#forget();
            this.#volume = context.createGain();
            this.#volume.connect(context.destination);
        }
        if (this.#backend === undefined && !this.#opening)
            void this.#open(context);
    }
    /** Tracks are heard in the order in which they are opened. */
    open(id) {
        const places = { next: 0, base: 0, made: 0, played: 0, playedAt: 0 };
        this.#tracks.set(id, { id, chunks: [], end: undefined, resampler: undefined, ...places });
        this.#backend?.send({ type: "open", track: id });
        this.device.want(true);
    }
    push(id, position, samples) {
        const track = this.#tracks.get(id);
        if (track === undefined)
            return;
        track.chunks.push({ position, samples });
        this.#send(track, position, samples);
    }
    /** All has been pushed; nothing beyond `end` is to be heard. */
    end(id, end) {
        const track = this.#tracks.get(id);
        if (track === undefined)
            return;
        track.end = end;
        this.#finish(track, end);
    }
    drop(id) {
        if (!this.#tracks.delete(id))
            return;
        this.#backend?.send({ type: "drop", track: id });
        this.device.want(this.#tracks.size > 0);
    }
    /** How far the track has been heard, in samples at 48 kHz. */
    heard(id) {
        const track = this.#tracks.get(id);
        if (track === undefined)
            return 0;
        const behind = Math.max(0, (track.playedAt - this.device.heardTime()) * PTS_RATE);
        return Math.max(0, Math.round(track.played - behind));
    }
    /** When a moment of the context's clock is heard, on `performance.now()`'s. */
    heardAt(time) {
        return performance.now() + (time - this.device.heardTime()) * 1000;
    }
    close() {
        this.#forget();
        this.#tracks.clear();
        this.device.close();
    }
    async #open(context) {
        const generation = ++this.#generation;
        const tell = (message) => generation === this.#generation && this.#told(message);
        this.#opening = true;
        const { backend, why } = await openBackend(context, this.workletUrl, tell);
        if (generation !== this.#generation)
            return backend.close();
        this.#opening = false;
        this.#backend = backend;
        backend.node.connect(this.#volume);
        backend.send({ type: "target", ms: this.jitter.ms });
        this.events.backend(backend.kind, why);
        for (const track of this.#tracks.values())
            this.#replay(track);
    }
    /** The backend belongs to a context that is gone. */
    #forget() {
        this.#generation += 1;
        this.#opening = false;
        this.#backend?.close();
        this.#backend = undefined;
    }
    #replay(track) {
        track.resampler = undefined;
        this.#backend?.send({ type: "open", track: track.id });
        for (const { position, samples } of track.chunks) {
            const cut = Math.max(0, track.played - position);
            this.#send(track, position + cut, samples.subarray(cut));
        }
        if (track.end !== undefined)
            this.#finish(track, track.end);
    }
    #send(track, position, samples) {
        const rate = this.device.context?.sampleRate;
        if (this.#backend === undefined || rate === undefined || samples.length === 0)
            return;
        if (track.resampler === undefined || position !== track.next) {
            track.resampler = new Resampler(PTS_RATE, rate);
            track.base = position;
            track.made = 0;
        }
        track.next = position + samples.length;
        this.#emit(track, rate, rate === PTS_RATE ? samples.slice() : track.resampler.process(samples));
    }
    #emit(track, rate, samples) {
        const position = track.base + Math.round((track.made * PTS_RATE) / rate);
        track.made += samples.length;
        if (samples.length > 0)
            this.#backend?.send({ type: "push", track: track.id, position, samples });
    }
    #finish(track, end) {
        const rate = this.device.context?.sampleRate;
        if (this.#backend === undefined || rate === undefined)
            return;
        if (track.resampler !== undefined && rate !== PTS_RATE)
            this.#emit(track, rate, track.resampler.flush());
        this.#backend.send({ type: "end", track: track.id, position: end });
    }
    #told(message) {
        const track = this.#tracks.get(message.track);
        if (track === undefined)
            return;
        if (message.type === "started")
            return this.events.started(track.id, message.time);
        track.played = message.position;
        track.playedAt = message.time;
        track.chunks = track.chunks.filter(({ position, samples }) => position + samples.length > track.played);
        if (message.type === "played")
            this.#smooth();
        else if (message.type === "resumed")
            this.events.underrun(track.id, track.played, message.gapMs);
        else if (message.type === "drained")
            return this.#drained(track);
        this.events.played(track.id);
    }
    #smooth() {
        if (this.jitter.smooth(performance.now()))
            this.#backend?.send({ type: "target", ms: this.jitter.ms });
    }
    /** More came too late: from now on more is kept in hand. */
    late() {
        this.jitter.underrun(performance.now());
        this.#backend?.send({ type: "target", ms: this.jitter.ms });
    }
    /** The last samples are still on their way through the device. */
    #drained(track) {
        const rest = Math.max(0, this.heardAt(track.playedAt) - performance.now());
        setTimeout(() => {
            if (this.#tracks.get(track.id) !== track)
                return;
            this.events.played(track.id);
            this.#tracks.delete(track.id);
            this.device.want(this.#tracks.size > 0);
            this.events.drained(track.id);
        }, Math.min(rest, 1000));
    }
}
async function openBackend(context, url, tell) {
    if (context.audioWorklet === undefined) {
        return { backend: new BufferBackend(context, tell), why: "this page is not secure (neither https nor localhost)" };
    }
    try {
        return { backend: await workletBackend(context, url, tell), why: "" };
    }
    catch (error) {
        return { backend: new BufferBackend(context, tell), why: reason(error) };
    }
}
