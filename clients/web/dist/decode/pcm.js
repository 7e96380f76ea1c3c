/** 16-bit little-endian samples at 48 kHz: no decoder at all. */
export function pcmDecoder(sink) {
    return {
        decode(packet) {
            const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
            const samples = new Float32Array(packet.byteLength >> 1);
            for (let i = 0; i < samples.length; i += 1)
                samples[i] = view.getInt16(2 * i, true) / 32_768;
            sink.samples(samples);
        },
        flush: async () => undefined,
        close: () => undefined,
    };
}
