/**
 * `opus-decoder` (libopus in WebAssembly), loaded the first time it is needed: its JavaScript beside
 * this file, its code from `wasmUrl`, so that a page whose policy allows no blob: or data: can use it.
 */

import type { Decoder, DecoderSink } from "./decoder.js";

const RATE = 48_000;

type OpusDecoderClass = typeof import("./opus-decoder.js").OpusDecoder;

const loaded = new Map<string, Promise<OpusDecoderClass>>();

/** Throws where WebAssembly is forbidden or a file cannot be had; then a later call tries again. */
export function loadWasm(url: string | URL): Promise<OpusDecoderClass> {
  const known = loaded.get(String(url));
  if (known !== undefined) return known;
  const loading = load(url);
  loaded.set(String(url), loading);
  loading.catch(() => loaded.delete(String(url)));
  return loading;
}

async function load(url: string | URL): Promise<OpusDecoderClass> {
  const [{ OpusDecoder }, module] = await Promise.all([import("./opus-decoder.js"), compile(url)]);
  OpusDecoder.module = module;
  return OpusDecoder;
}

async function compile(url: string | URL): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  // Not compileStreaming: it insists on a MIME type that many static servers do not send.
  return WebAssembly.compile(await response.arrayBuffer());
}

export async function wasmDecoder(url: string | URL, sink: DecoderSink): Promise<Decoder> {
  const OpusDecoder = await loadWasm(url);
  const decoder = new OpusDecoder({ sampleRate: RATE, channels: 1 });
  await decoder.ready;
  return {
    decode(packet) {
      const { channelData, samplesDecoded, errors } = decoder.decodeFrame(packet);
      const fault = errors[0];
      if (fault !== undefined) sink.failed(new Error(fault.message));
      else sink.samples((channelData[0] as Float32Array).subarray(0, samplesDecoded));
    },
    flush: async () => undefined,
    close: () => decoder.free(),
  };
}
