/**
 * One context's packets into one context's samples, over whatever decoders it takes.
 *
 * A decoder that fails (or falls silent) in mid-stream is replaced by the next path, and the packets
 * it still owed are decoded again, after a run-up over the two before them so that the new one
 * has settled. Cancelling ends a generation; each result of an older one is dropped.
 */
import { CosystreamError, reason } from "../errors.js";
import { opusSamples } from "./packet.js";
/** Packets of 80 ms and less: an Opus decoder settles within 80 ms. */
const RUN_UP = 2;
const SILENT_MS = 2000;
export class TrackDecoder {
    paths;
    codec;
    preSkip;
    sink;
    #generation = 0;
    #decoder;
    #path;
    #opening;
    /** Not yet given to a decoder. */
    #waiting = [];
    /** Given, and not yet come out whole. */
    #owed = [];
    /** Come out: the run-up for a new decoder. */
    #recent = [];
    /** Where the next packet begins. */
    #end = 0;
    #silent;
    constructor(paths, codec, preSkip, sink) {
        this.paths = paths;
        this.codec = codec;
        this.preSkip = preSkip;
        this.sink = sink;
    }
    /** `pts` is used only where audio before the packet is missing. */
    push(data, pts, discontinuity) {
        const position = discontinuity ? pts : this.#end;
        const samples = this.codec === "opus" ? opusSamples(data) : data.length >> 1;
        this.#end = position + samples;
        this.#waiting.push({ data, position, samples, out: 0 });
        this.#feed();
    }
    /** Resolves when all that was pushed has come out, or nothing more can. */
    async drain() {
        const generation = this.#generation;
        while (generation === this.#generation) {
            const decoder = this.#decoder;
            if (this.#opening !== undefined)
                await this.#opening;
            else if (decoder === undefined || this.#owed.length === 0)
                return;
            else if (await this.#flushed(decoder))
                return;
        }
    }
    close() {
        this.#generation += 1;
        clearTimeout(this.#silent);
        this.#decoder?.close();
        this.#decoder = undefined;
        this.#waiting = [];
        this.#owed = [];
    }
    #feed() {
        if (this.#decoder === undefined) {
            this.#opening ??= this.#open();
            return;
        }
        while (this.#decoder !== undefined && this.#waiting.length > 0) {
            const packet = this.#waiting.shift();
            this.#owed.push({ ...packet, out: 0 });
            this.#listen();
            const decoder = this.#decoder;
            try {
                decoder.decode(packet.data);
            }
            catch (error) {
                this.#lost(decoder, error);
            }
        }
    }
    async #open() {
        const generation = this.#generation;
        const sink = {
            samples: (samples) => this.#decoder === own.decoder && this.#came(samples),
            failed: (error) => this.#lost(own.decoder, error),
        };
        const own = {};
        try {
            const { path, decoder } = await (this.codec === "opus" ? this.paths.opus(sink) : this.paths.pcm(sink));
            this.#opening = undefined;
            if (generation !== this.#generation)
                return decoder.close();
            own.decoder = decoder;
            this.#decoder = decoder;
            this.#path = path;
        }
        catch (error) {
            this.#opening = undefined;
            if (generation === this.#generation)
                this.sink.failed(asError(error));
            return;
        }
        this.#feed();
    }
    #came(samples) {
        let rest = samples;
        while (rest.length > 0 && this.#owed[0] !== undefined) {
            const packet = this.#owed[0];
            // Some decoder may have dropped the pre-skip itself: then the first output is that much short.
            const dropped = packet.position === 0 && packet.out === 0 && rest.length === packet.samples - this.preSkip;
            if (dropped)
                packet.out = this.preSkip;
            const part = rest.subarray(0, packet.samples - packet.out);
            rest = rest.subarray(part.length);
            this.#deliver(packet.position + packet.out, part);
            packet.out += part.length;
            if (packet.out === packet.samples)
                this.#settle();
        }
        this.#listen();
    }
    #deliver(position, samples) {
        const cut = Math.max(0, this.preSkip - position);
        if (cut < samples.length)
            this.sink.samples(position + cut - this.preSkip, samples.subarray(cut));
    }
    #settle() {
        const packet = this.#owed.shift();
        this.#recent = [...this.#recent, packet].slice(-RUN_UP);
    }
    async #flushed(decoder) {
        try {
            await decoder.flush();
        }
        catch (error) {
            this.#lost(decoder, error);
        }
        return decoder === this.#decoder;
    }
    #lost(decoder, error) {
        if (decoder === undefined || decoder !== this.#decoder)
            return;
        clearTimeout(this.#silent);
        this.#decoder = undefined;
        if (this.#path !== undefined)
            this.paths.failed(this.#path, error);
        decoder.close();
        this.#waiting = [...this.#recent, ...this.#owed, ...this.#waiting];
        this.#recent = [];
        this.#owed = [];
        this.#feed();
    }
    /** A decoder that takes packets and gives nothing back has failed without a word. */
    #listen() {
        clearTimeout(this.#silent);
        if (this.#owed.length === 0)
            return;
        const decoder = this.#decoder;
        this.#silent = setTimeout(() => this.#lost(decoder, new Error("the decoder puts nothing out")), SILENT_MS);
    }
}
function asError(error) {
    return error instanceof CosystreamError ? error : new CosystreamError("no_decoder", reason(error));
}
