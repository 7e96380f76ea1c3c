/**
 * `opus-decoder` (libopus in WebAssembly), loaded the first time it is needed: its JavaScript beside
 * this file, its code from `wasmUrl`, so that a page whose policy allows no blob: or data: can use it.
 */
const RATE = 48_000;
const loaded = new Map();
/** Throws where WebAssembly is forbidden or a file cannot be had; then a later call tries again. */
export function loadWasm(url) {
    const known = loaded.get(String(url));
    if (known !== undefined)
        return known;
    const loading = load(url);
    loaded.set(String(url), loading);
    loading.catch(() => loaded.delete(String(url)));
    return loading;
}
async function load(url) {
    const [{ OpusDecoder }, module] = await Promise.all([import("./opus-decoder.js"), compile(url)]);
    OpusDecoder.module = module;
    return OpusDecoder;
}
async function compile(url) {
    const response = await fetch(url);
    if (!response.ok)
        throw new Error(`${url} answers ${response.status}`);
    // Not compileStreaming: it insists on a MIME type that many static servers do not send.
    return WebAssembly.compile(await response.arrayBuffer());
}
export async function wasmDecoder(url, sink) {
    const OpusDecoder = await loadWasm(url);
    const decoder = new OpusDecoder({ sampleRate: RATE, channels: 1 });
    await decoder.ready;
    return {
        decode(packet) {
            const { channelData, samplesDecoded, errors } = decoder.decodeFrame(packet);
            const fault = errors[0];
            if (fault !== undefined)
                sink.failed(new Error(fault.message));
            else
                sink.samples(channelData[0].subarray(0, samplesDecoded));
        },
        flush: async () => undefined,
        close: () => decoder.free(),
    };
}
