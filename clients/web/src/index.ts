/** cosystream in the browser. Importing this does nothing, on a server neither. */

export { CosystreamError } from "./errors.js";
export { Speaker } from "./speaker.js";
export { Utterance } from "./utterance.js";
export { asReadable } from "./recording/convert.js";
export { Recorder } from "./recording/recorder.js";
export { Voices } from "./voices.js";
export type { DecoderPath } from "./decode/decoder.js";
export type { ConnectionState } from "./session.js";
export type { SpeakerEvents } from "./events.js";
export type { Segment, Spoken, Word } from "./timeline.js";
export type { Recording, RecorderEvents, RecorderOptions } from "./recording/recorder.js";
export type { CreateOptions, NewVoice, Voice, VoiceDraft, VoiceList, VoicesOptions } from "./voices.js";
export type {
  HotFix,
  Lexicon,
  LexiconEntry,
  Result,
  SpeakerOptions,
  SpeakOptions,
  Stats,
  UtteranceState,
} from "./types.js";
