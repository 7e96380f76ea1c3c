/** What an utterance is asked with, as the server reads it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { opening, speakOptions, unknownOptions } from "../dist/options.js";

const ALL = {
  voice: "heart",
  language: "en",
  speed: 1.1,
  seed: 7,
  instruct: "kindly",
  lexicon: [{ text: "GIF", arpabet: "JH IH1 F" }],
  reasoning: "drop",
  when: "replace",
  textMode: "sentence",
  maxDelayMs: 90,
  priority: -3,
};

test("every option has its name of the protocol", () => {
  const { textMode, maxDelayMs, ...same } = ALL;
  assert.deepEqual(opening(ALL), { ...same, text_mode: textMode, max_delay_ms: maxDelayMs });
});

test("what is left out is the server's default", () => {
  assert.deepEqual(opening({}), {});
  assert.deepEqual(opening({ voice: undefined, speed: 1 }), { speed: 1 });
});

test("an utterance takes no more than its own of a speaker's options", () => {
  assert.deepEqual(speakOptions({ ...ALL, url: "https://tts.example.com/", token: "t", bitrate: 9000 }), ALL);
});

test("plain words become entries of a lexicon", () => {
  const lexicon = { GIF: "jif", pronunciation: "how it is said" };
  assert.deepEqual(opening({ lexicon }).lexicon, [
    { text: "GIF", say: "jif" },
    { text: "pronunciation", say: "how it is said" },
  ]);
});

test("the protocol's own forms of a lexicon go as they are", () => {
  const fix = { pronunciation: [{ 天气: "tian1 qi4" }], replace: [{ 今天: "金天" }] };
  assert.deepEqual(opening({ lexicon: fix }).lexicon, fix);
  assert.deepEqual(opening({ lexicon: [] }).lexicon, []);
});

test("a misspelt option is told with those there are", () => {
  assert.deepEqual(unknownOptions(ALL), []);
  const [told, ...more] = unknownOptions({ ...ALL, sped: 2 });
  assert.match(told, /^'sped' is no option and is ignored; there are: voice, language, speed/);
  assert.deepEqual(more, []);
});
