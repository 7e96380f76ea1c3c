/** cosystream in the browser. Importing this does nothing, on a server neither. */
export { CosystreamError } from "./errors.js";
export { Speaker } from "./speaker.js";
export { Utterance } from "./utterance.js";
export type { DecoderPath } from "./decode/decoder.js";
export type { ConnectionState } from "./session.js";
export type { Segment, Spoken, Word } from "./timeline.js";
export type { Result, SpeakerEvents, SpeakerOptions, SpeakOptions, Stats, UtteranceState } from "./types.js";
