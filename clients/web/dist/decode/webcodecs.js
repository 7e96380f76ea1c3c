/**
 * The browser's own decoder. Without a `description` it drops no pre-skip and moves no time, which
 * is what all browsers agree on; who calls trims by counting samples.
 */
import { opusSamples } from "./packet.js";
const CONFIG = { codec: "opus", sampleRate: 48_000, numberOfChannels: 1 };
const RATE = 48_000;
export async function webCodecsSupported() {
    if (typeof AudioDecoder === "undefined" || typeof EncodedAudioChunk === "undefined")
        return false;
    try {
        return (await AudioDecoder.isConfigSupported(CONFIG)).supported === true;
    }
    catch {
        // A browser that throws at the question cannot do it.
        return false;
    }
}
/** Throws where `configure` does. */
export function webCodecsDecoder(sink) {
    const decoder = new AudioDecoder({
        output: (data) => deliver(data, sink),
        error: (error) => sink.failed(error),
    });
    decoder.configure(CONFIG);
    let timestamp = 0;
    return {
        decode(packet) {
            const duration = (opusSamples(packet) / RATE) * 1e6;
            decoder.decode(new EncodedAudioChunk({ type: "key", timestamp, duration, data: packet }));
            timestamp += duration;
        },
        flush: () => decoder.flush(),
        close() {
            if (decoder.state !== "closed")
                decoder.close();
        },
    };
}
function deliver(data, sink) {
    if (data.sampleRate !== RATE) {
        sink.failed(new Error(`the decoder's output is at ${data.sampleRate} Hz instead of ${RATE}`));
    }
    else {
        const samples = new Float32Array(data.numberOfFrames);
        data.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
        sink.samples(samples);
    }
    data.close();
}
