/**
 * The two ways to the loudspeaker, behind one face: an AudioWorklet, or (on insecure origins,
 * where there is none) the same ring rendered ahead into AudioBufferSourceNodes.
 */
import { Ring } from "./worklet.js";
/** Throws where the module cannot be loaded. */
export async function workletBackend(context, url, tell) {
    await context.audioWorklet.addModule(url);
    const node = new AudioWorkletNode(context, "cosystream-ring", {
        numberOfInputs: 0,
        outputChannelCount: [1],
    });
    node.port.onmessage = (event) => tell(event.data);
    return {
        kind: "worklet",
        node,
        send: (message) => node.port.postMessage(message, message.type === "push" ? [message.samples.buffer] : []),
        close: () => {
            node.port.onmessage = null;
            node.port.close();
            node.disconnect();
        },
    };
}
const BLOCK_S = 0.02;
const TICK_MS = 20;
const AHEAD_S = 0.1;
/** Timers of hidden pages run once a second. */
const AHEAD_HIDDEN_S = 1.5;
const FADE_S = 0.005;
export class BufferBackend {
    context;
    tell;
    kind = "buffer";
    node;
    #ring;
    #timer;
    #blocks = [];
    /** The next frame to schedule: whole frames, so that blocks join without a seam. */
    #next = 0;
    #touched = new Set();
    constructor(context, tell) {
        this.context = context;
        this.tell = tell;
        this.node = context.createGain();
        this.#ring = new Ring(context.sampleRate, (message) => this.#told(message));
        this.#timer = setInterval(() => this.#pump(), TICK_MS);
    }
    send(message) {
        this.#ring.handle(message.type === "drop" ? { ...message, cut: true } : message);
        if (message.type === "drop")
            this.#silence(message.track);
        this.#pump();
    }
    close() {
        clearInterval(this.#timer);
        for (const block of this.#blocks)
            block.source.stop();
        this.node.disconnect();
    }
    #told(message) {
        this.#touched.add(message.track);
        this.tell(message);
    }
    #pump() {
        const now = this.context.currentTime;
        this.#blocks = this.#blocks.filter((block) => block.end > now);
        const rate = this.context.sampleRate;
        this.#next = Math.max(this.#next, Math.ceil((now + BLOCK_S) * rate));
        const ahead = document.hidden ? AHEAD_HIDDEN_S : AHEAD_S;
        while (this.#next < (now + ahead) * rate)
            this.#schedule(rate);
    }
    #schedule(rate) {
        const buffer = this.context.createBuffer(1, Math.round(rate * BLOCK_S), rate);
        const start = this.#next / rate;
        this.#next += buffer.length;
        this.#ring.render(buffer.getChannelData(0), start);
        const tracks = this.#touched;
        this.#touched = new Set();
        if (buffer.getChannelData(0).every((sample) => sample === 0))
            return;
        const source = new AudioBufferSourceNode(this.context, { buffer });
        const gain = this.context.createGain();
        source.connect(gain).connect(this.node);
        source.start(start);
        this.#blocks.push({ source, gain, end: this.#next / rate, tracks });
    }
    /** Stop what is scheduled of a track: at most `AHEAD_S` of it. */
    #silence(track) {
        const now = this.context.currentTime;
        for (const block of this.#blocks.filter((candidate) => candidate.tracks.has(track))) {
            block.gain.gain.setValueAtTime(1, now);
            block.gain.gain.linearRampToValueAtTime(0, now + FADE_S);
            block.source.stop(now + FADE_S);
            block.end = now;
        }
        // What comes next need not wait for what is not heard.
        this.#next = Math.round(Math.max(...this.#blocks.map((block) => block.end), 0) * this.context.sampleRate);
    }
}
