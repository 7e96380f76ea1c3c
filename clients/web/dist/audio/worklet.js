/**
 * The ring that feeds the device, and the AudioWorklet around it. One file without imports, since a
 * worklet is loaded by its own URL; the fallback without AudioWorklet runs the same ring.
 *
 * Knows: tracks of chunks at the device's rate, each with its place in the context's audio
 * (samples at 48 kHz). Does not know: codecs, networks, what a context is.
 */
const PTS_RATE = 48_000;
const FADE_MS = 5;
const REPORT_MS = 20;
export class Ring {
    rate;
    tell;
    #fade;
    #tracks = [];
    #target;
    /** Silent until enough is buffered. */
    #priming = true;
    /** Samples of silence since sound could have begun. */
    #waited = 0;
    /** Samples of silence since the head ran dry, or nothing where it did not. */
    #dry;
    #fadeIn = 0;
    #tail = new Float32Array(0);
    #unreported = 0;
    constructor(rate, tell) {
        this.rate = rate;
        this.tell = tell;
        this.#fade = Math.round((rate * FADE_MS) / 1000);
        this.#target = Math.round(rate * 0.08);
    }
    handle(message) {
        if (message.type === "target")
            this.#target = Math.round((this.rate * message.ms) / 1000);
        else if (message.type === "open")
            this.#open(message.track);
        else if (message.type === "drop")
            this.#drop(message.track, message.cut === true);
        else {
            const track = this.#tracks.find((candidate) => candidate.id === message.track);
            if (track === undefined)
                return;
            if (message.type === "end")
                this.#end(track, message.position);
            else
                track.chunks.push({ position: message.position, samples: message.samples, offset: 0 });
        }
    }
    /** Fill `out` with what is to be heard from `time` on. */
    render(out, time) {
        out.fill(0);
        let at = this.#playTail(out);
        while (at < out.length) {
            const track = this.#tracks[0];
            const now = time + at / this.rate;
            if (track === undefined || !this.#primed(track, now))
                break;
            const chunk = track.chunks[0];
            if (chunk !== undefined)
                at += this.#copy(track, chunk, out, at);
            else if (track.ended)
                this.#drained(track, now);
            else
                this.#ranDry(track, now);
        }
        this.#silence(out.length - at);
        this.#report(out.length, time + out.length / this.rate);
    }
    #open(id) {
        this.#tracks.push({ id, chunks: [], ended: false, started: false, position: 0 });
    }
    #end(track, position) {
        track.ended = true;
        track.chunks = track.chunks.filter((chunk) => chunk.position < position);
        const last = track.chunks.at(-1);
        if (last === undefined)
            return;
        const length = Math.round(((position - last.position) * this.rate) / PTS_RATE);
        last.samples = last.samples.subarray(0, Math.max(length, last.offset));
    }
    /** Silent at once, but for a ramp so short that it is no sound, only the absence of a click. */
    #drop(id, cut) {
        const index = this.#tracks.findIndex((track) => track.id === id);
        const [track] = index < 0 ? [] : this.#tracks.splice(index, 1);
        if (track === undefined || index > 0)
            return;
        const chunk = track.chunks[0];
        if (chunk !== undefined && track.started && !this.#priming && !cut) {
            this.#tail = chunk.samples.slice(chunk.offset, chunk.offset + this.#fade);
            ramp(this.#tail, 0, this.#tail.length);
        }
        this.#prime();
    }
    #playTail(out) {
        const length = Math.min(out.length, this.#tail.length);
        out.set(this.#tail.subarray(0, length));
        this.#tail = this.#tail.subarray(length);
        return length;
    }
    #prime() {
        this.#priming = true;
        this.#waited = 0;
        this.#dry = undefined;
    }
    #primed(track, now) {
        if (!this.#priming)
            return true;
        const buffered = track.chunks.reduce((sum, chunk) => sum + chunk.samples.length - chunk.offset, 0);
        const enough = buffered >= this.#target || track.ended || (buffered > 0 && this.#waited >= this.#target);
        if (!enough)
            return false;
        this.#priming = false;
        if (buffered > 0)
            this.#begin(track, now);
        return true;
    }
    #begin(track, time) {
        if (!track.started) {
            track.started = true;
            this.tell({ type: "started", track: track.id, time });
        }
        else if (this.#dry !== undefined) {
            const gapMs = (this.#dry / this.rate) * 1000;
            this.#fadeIn = this.#fade;
            this.tell({ type: "resumed", track: track.id, position: track.position, time, gapMs });
        }
        this.#dry = undefined;
    }
    #copy(track, chunk, out, at) {
        const length = Math.min(out.length - at, chunk.samples.length - chunk.offset);
        out.set(chunk.samples.subarray(chunk.offset, chunk.offset + length), at);
        chunk.offset += length;
        track.position = chunk.position + Math.round((chunk.offset * PTS_RATE) / this.rate);
        if (chunk.offset === chunk.samples.length)
            track.chunks.shift();
        if (this.#fadeIn > 0)
            this.#rise(out.subarray(at, at + length));
        // The sound stops here though more of it must come: not with a step.
        if (track.chunks.length === 0 && !track.ended)
            ramp(out, at, at + length);
        return length;
    }
    #rise(part) {
        for (let i = 0; i < part.length && this.#fadeIn > 0; i += 1, this.#fadeIn -= 1) {
            part[i] = part[i] * (1 - this.#fadeIn / this.#fade);
        }
    }
    #ranDry(track, time) {
        this.#prime();
        this.#dry = 0;
        this.tell({ type: "dry", track: track.id, position: track.position, time });
    }
    #drained(track, time) {
        this.#tracks.shift();
        this.tell({ type: "drained", track: track.id, position: track.position, time });
        this.#prime();
    }
    #silence(samples) {
        if (this.#dry !== undefined)
            this.#dry += samples;
        if ((this.#tracks[0]?.chunks.length ?? 0) > 0)
            this.#waited += samples;
    }
    #report(samples, time) {
        this.#unreported += samples;
        const track = this.#tracks[0];
        if (track === undefined || this.#priming || this.#unreported * 1000 < REPORT_MS * this.rate)
            return;
        this.#unreported = 0;
        this.tell({ type: "played", track: track.id, position: track.position, time });
    }
}
/** Fall to zero over the samples from `from` to `to`. */
function ramp(samples, from, to) {
    for (let i = from; i < to; i += 1) {
        samples[i] = samples[i] * (1 - (i - from + 1) / (to - from));
    }
}
const scope = globalThis;
if (scope.AudioWorkletProcessor !== undefined) {
    scope.registerProcessor("cosystream-ring", class extends scope.AudioWorkletProcessor {
        #ring = new Ring(scope.sampleRate, (message) => this.port.postMessage(message));
        constructor() {
            super();
            this.port.onmessage = (event) => this.#ring.handle(event.data);
        }
        process(_inputs, outputs) {
            const out = outputs[0]?.[0];
            if (out !== undefined)
                this.#ring.render(out, scope.currentTime);
            return true;
        }
    });
}
