/**
 * What an utterance is asked with, and how the protocol names it (docs/protocol.md section 3).
 *
 * Knows: names. Does not know: defaults, which are the server's.
 */

import type { Lexicon, SpeakOptions } from "./types.js";

const NAMES = {
  voice: "voice",
  language: "language",
  speed: "speed",
  seed: "seed",
  instruct: "instruct",
  lexicon: "lexicon",
  reasoning: "reasoning",
  when: "when",
  textMode: "text_mode",
  maxDelayMs: "max_delay_ms",
  priority: "priority",
} as const satisfies Record<keyof SpeakOptions, string>;

const OPTIONS = Object.keys(NAMES) as (keyof SpeakOptions)[];

/** The options of an utterance among others. */
export function speakOptions(options: SpeakOptions): SpeakOptions {
  return Object.fromEntries(OPTIONS.map((name) => [name, options[name]]));
}

/** What is none of them, in words; a misspelt option would be ignored unseen. */
export function unknownOptions(options: object): string[] {
  const names = Object.keys(options).filter((name) => !(name in NAMES));
  return names.map((name) => `'${name}' is no option and is ignored; there are: ${OPTIONS.join(", ")}`);
}

/** Those that are set, as `open` has them. */
export function opening(options: SpeakOptions): Record<string, unknown> {
  const given = OPTIONS.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [NAMES[name], name === "lexicon" ? asSent(options.lexicon as Lexicon) : options[name]]));
}

/** Plain words become entries; the other forms are the protocol's own already. */
function asSent(lexicon: Lexicon): unknown {
  if (Array.isArray(lexicon)) return lexicon;
  const words = Object.entries(lexicon as Record<string, unknown>);
  if (words.some(([, say]) => typeof say !== "string")) return lexicon;
  return words.map(([text, say]) => ({ text, say }));
}
