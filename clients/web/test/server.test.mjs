import assert from "node:assert/strict";
import { test } from "node:test";

test("importing the package where there is no page does nothing and touches no global", async () => {
  const before = new Set(Object.getOwnPropertyNames(globalThis));
  const module = await import("../dist/index.js");
  assert.deepEqual(Object.keys(module).sort(), ["CosystreamError", "Recorder", "Speaker", "Utterance", "Voices", "asReadable"]);
  assert.deepEqual(Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name)), []);
});

test("a speaker can be made there, for a framework that renders on the server", async () => {
  const { Speaker } = await import("../dist/index.js");
  const speaker = new Speaker({ url: "https://tts.example.com/" });
  assert.equal(speaker.state, "idle");
  assert.equal(speaker.blocked, false);
  assert.deepEqual(speaker.utterances, []);
});
