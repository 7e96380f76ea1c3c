/**
 * A few seconds from the microphone, as a WAVE file to make a voice of.
 *
 * As the microphone gives it: what browsers do for calls (echo, noise, loudness) is not wanted in a
 * voice. Needs a secure page (https or localhost), as microphones do.
 */
import { Emitter } from "../emitter.js";
import { CosystreamError, reason } from "../errors.js";
import { wav } from "./wav.js";
/** Servers take no more. */
const MAX_SECONDS = 30;
const CLIPPED = 0.999;
const LAST_BLOCK_MS = 500;
export class Recorder extends Emitter {
    options;
    #running;
    /** Of attempts: what belongs to one that was cancelled is let go. */
    #generation = 0;
    #chunks = [];
    #samples = 0;
    #peak = 0;
    #full = false;
    #finished;
    constructor(options = {}) {
        super();
        this.options = options;
    }
    get recording() {
        return this.#running !== undefined;
    }
    get seconds() {
        return this.#running === undefined ? 0 : this.#samples / this.#running.context.sampleRate;
    }
    /**
     * Ask for the microphone and begin. Rejects with `microphone_unavailable` (not a secure page),
     * `microphone_denied`, `microphone_missing` or `microphone_failed`.
     */
    async start() {
        this.cancel();
        const generation = this.#generation;
        const stream = await microphone(this.options.deviceId);
        if (generation !== this.#generation)
            return release(stream);
        const context = new AudioContext();
        try {
            await context.audioWorklet.addModule(this.options.captureUrl ?? new URL("./capture.js", import.meta.url));
            await context.resume();
        }
        catch (error) {
            release(stream);
            void context.close();
            throw new CosystreamError("microphone_failed", reason(error));
        }
        if (generation !== this.#generation) {
            release(stream);
            return void context.close();
        }
        this.#begin(stream, context);
    }
    /** Forget what has been recorded so far and go on: the countdown is over. */
    restart() {
        this.#chunks = [];
        this.#samples = 0;
        this.#peak = 0;
        this.#full = false;
    }
    /** End it and have what was recorded. Rejects with `bad_state` where nothing is being recorded. */
    async stop() {
        const running = this.#running;
        if (running === undefined)
            throw new CosystreamError("bad_state", "nothing is being recorded");
        await new Promise((resolve) => {
            this.#finished = resolve;
            running.node.port.postMessage("stop");
            setTimeout(resolve, LAST_BLOCK_MS); // a device that has gone may take its worklet along
        });
        const { sampleRate } = running.context;
        const recording = { audio: wav(this.#chunks, sampleRate), seconds: this.#samples / sampleRate, peak: this.#peak };
        this.cancel();
        return recording;
    }
    /** Let the microphone go, and what was recorded with it. */
    cancel() {
        this.#generation += 1;
        const running = this.#running;
        this.#running = undefined;
        this.#finished?.();
        this.#finished = undefined;
        this.restart();
        if (running === undefined)
            return;
        running.node.port.onmessage = null;
        release(running.stream);
        void running.context.close();
        asSession("playback");
    }
    #begin(stream, context) {
        const node = new AudioWorkletNode(context, "cosystream-capture", {
            channelCount: 1,
            channelCountMode: "explicit",
            outputChannelCount: [1],
        });
        node.port.onmessage = (event) => this.#take(event.data);
        // Nothing comes out of it; only what leads to the loudspeaker is sure to run.
        context.createMediaStreamSource(stream).connect(node).connect(context.destination);
        for (const track of stream.getAudioTracks())
            track.onended = () => this.emit("ended", { why: "lost" });
        this.#running = { stream, context, node };
    }
    #take({ samples, last }) {
        const running = this.#running;
        if (running === undefined)
            return;
        const room = Math.round((this.options.maxSeconds ?? MAX_SECONDS) * running.context.sampleRate) - this.#samples;
        const kept = samples.subarray(0, room);
        if (kept.length > 0) {
            this.#chunks.push(kept);
            this.#samples += kept.length;
            const peak = kept.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
            this.#peak = Math.max(this.#peak, peak);
            this.emit("level", { peak, clipped: peak >= CLIPPED, seconds: this.seconds });
        }
        if (last)
            this.#finished?.();
        else if (kept.length === room && !this.#full) {
            this.#full = true;
            this.emit("ended", { why: "full" });
        }
    }
}
async function microphone(deviceId) {
    if (navigator.mediaDevices === undefined) {
        throw new CosystreamError("microphone_unavailable", "browsers give a microphone to https pages and localhost alone");
    }
    const audio = {
        channelCount: 1,
        echoCancellation: false,
        noiseSuppression: false,
        autoGainControl: false,
        ...(deviceId === undefined ? {} : { deviceId: { exact: deviceId } }),
    };
    asSession("play-and-record");
    try {
        return await navigator.mediaDevices.getUserMedia({ audio });
    }
    catch (error) {
        asSession("playback");
        const name = error instanceof DOMException ? error.name : "";
        throw new CosystreamError(REASONS[name] ?? "microphone_failed", reason(error));
    }
}
const REASONS = {
    NotAllowedError: "microphone_denied",
    SecurityError: "microphone_denied",
    NotFoundError: "microphone_missing",
    OverconstrainedError: "microphone_missing",
};
function release(stream) {
    for (const track of stream.getTracks()) {
        track.onended = null;
        track.stop();
    }
}
/** On iPhones: what the page's sound is for. */
function asSession(type) {
    const session = navigator.audioSession;
    if (session !== undefined)
        session.type = type;
}
