/** What turns packets into samples: one face for WebCodecs, WASM and plain PCM. */

export type DecoderPath = "webcodecs" | "wasm" | "pcm";

export interface DecoderSink {
  /** Mono samples at 48 kHz, in the packets' order, nothing trimmed. */
  samples(samples: Float32Array): void;
  /** It is of no more use; packets whose samples have not come are lost with it. */
  failed(error: Error): void;
}

export interface Decoder {
  decode(packet: Uint8Array): void;
  /** Everything given so far has come out once this resolves. */
  flush(): Promise<void>;
  close(): void;
}

export type DecoderFactory = (sink: DecoderSink) => Promise<Decoder> | Decoder;
