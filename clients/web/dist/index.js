/** cosystream in the browser. Importing this does nothing, on a server neither. */
export { CosystreamError } from "./errors.js";
export { Speaker } from "./speaker.js";
export { Utterance } from "./utterance.js";
export { asReadable } from "./recording/convert.js";
export { Recorder } from "./recording/recorder.js";
export { Voices } from "./voices.js";
