// The part of `opus-decoder` that is used; scripts/build.mjs bundles it to dist/decode/opus-decoder.js.

export interface Decoded {
  channelData: Float32Array[];
  samplesDecoded: number;
  errors: { message: string }[];
}

export class OpusDecoder {
  static module: WebAssembly.Module | undefined;
  readonly ready: Promise<void>;
  constructor(options: { sampleRate: number; channels: number });
  decodeFrame(packet: Uint8Array): Decoded;
  free(): void;
}
