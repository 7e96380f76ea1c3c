/**
 * What an utterance is asked with, and how the protocol names it (docs/protocol.md section 3).
 *
 * Knows: names. Does not know: defaults, which are the server's.
 */
import type { SpeakOptions } from "./types.js";
/** The options of an utterance among others. */
export declare function speakOptions(options: SpeakOptions): SpeakOptions;
/** What is none of them, in words; a misspelt option would be ignored unseen. */
export declare function unknownOptions(options: object): string[];
/** Those that are set, as `open` has them. */
export declare function opening(options: SpeakOptions): Record<string, unknown>;
