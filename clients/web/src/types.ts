/** What a page gives the client and what comes of it: options, results, figures. */

/** How `text` is spoken: in other words, in phones, or both. */
export interface LexiconEntry {
  text: string;
  say?: string;
  pinyin?: string;
  arpabet?: string;
}

/** The same in DashScope's form. */
export interface HotFix {
  pronunciation?: Record<string, string>[];
  replace?: Record<string, string>[];
}

/** `{ GIF: "jif" }`, a list of entries, or DashScope's form. */
export type Lexicon = Record<string, string> | LexiconEntry[] | HotFix;

/** What is said to the server when the context is opened; docs/protocol.md section 3 explains each. */
export interface SpeakOptions {
  voice?: string | undefined;
  language?: string | undefined;
  speed?: number | undefined;
  seed?: number | undefined;
  instruct?: string | undefined;
  /** How words are spoken. */
  lexicon?: Lexicon | undefined;
  /** `drop`: what a model marks as its thoughts (`<think>…</think>`) is not spoken. */
  reasoning?: "speak" | "drop" | undefined;
  /** After what is being spoken (`queue`), instead of it (`interrupt`), or of what waits (`replace`). */
  when?: "queue" | "interrupt" | "replace" | undefined;
  /** When text is let go; `interleaved`: into the model in mid-sentence, where the voice can. */
  textMode?: "auto" | "sentence" | "manual" | "interleaved" | undefined;
  /** Speak text that has waited so long, even in mid-sentence. */
  maxDelayMs?: number | undefined;
  priority?: number | undefined;
}

export type UtteranceState = "waiting" | "speaking" | "done" | "cancelled" | "failed";

export interface Result {
  reason: "completed" | "cancelled";
  audioMs: number;
  playedMs: number;
  textSpoken: string;
  textRemaining: string;
  /** From the text that completed the first segment to its first packet, measured here. */
  firstPacketMs: number | undefined;
  /** The same to the first audible sample, at the loudspeaker. */
  ttfaMs: number | undefined;
  underruns: number;
  /** The server's own measure. */
  server: { firstPacketMs: number | null; ttfaMs: number | null; rtf: number | null } | undefined;
}

export interface SpeakerOptions extends SpeakOptions {
  /** The server, for example `https://tts.example.com/`; without one, the place of the page. */
  url?: string | URL;
  /** A token from `POST /v1/tokens`; or ask for one before each session with `getToken` (`""`: none). */
  token?: string;
  getToken?: () => string | Promise<string>;
  /** Opus bits a second. */
  bitrate?: number;
  /** Comes back in the server's `done` and logs. */
  metadata?: Record<string, unknown>;
  /** W3C trace context, for the server's logs. */
  traceparent?: string;
  /** Bounds of the jitter buffer, in ms. */
  jitterMs?: [min: number, max: number];
  /** Where the package's `audio/worklet.js` and `opus-decoder.wasm` are, if not beside it. */
  workletUrl?: string | URL;
  wasmUrl?: string | URL;
}

export interface Stats {
  /** Of the latest utterance, in ms. */
  firstPacketMs: number | undefined;
  ttfaMs: number | undefined;
  /** Of all utterances: sound that came too late, and silence because text was not there yet. */
  underruns: number;
  pauses: number;
  /** What the jitter buffer now keeps in hand. */
  bufferMs: number;
  packets: number;
  bytes: number;
  /** Connections that were lost and made again, and messages that came twice and were dropped. */
  reconnects: number;
  duplicates: number;
}
