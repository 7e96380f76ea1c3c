import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingText } from "../dist/text.js";
import { Timeline } from "../dist/timeline.js";

const at = (ms) => ms * 48;

function timeline(text) {
  const growing = new GrowingText();
  growing.append(text);
  return new Timeline(growing);
}

function segment(index, text, charStart, ptsMs) {
  return { type: "segment", ctx: "a", index, text, char_start: charStart, char_end: charStart + [...text].length, pts_ms: ptsMs };
}

test("before any segment nothing is spoken", () => {
  assert.deepEqual(timeline("Hello.").at(0), { segment: undefined, word: undefined, charIndex: 0 });
});

test("a segment without words lights up whole", () => {
  const lines = timeline("One. Two.");
  lines.addSegment(segment(0, "One.", 0, 0));
  lines.addSegment(segment(1, "Two.", 5, 500));
  assert.equal(lines.at(at(499)).charIndex, 4);
  assert.equal(lines.at(at(500)).charIndex, 9);
});

test("with words it lights up to the word that is heard", () => {
  const lines = timeline("One two.");
  lines.addSegment(segment(0, "One two.", 0, 0));
  lines.addWords([
    { text: "One", char_start: 0, char_end: 3, start_ms: 20, end_ms: 200 },
    { text: "two.", char_start: 4, char_end: 8, start_ms: 210, end_ms: 400 },
  ]);
  assert.equal(lines.at(at(0)).charIndex, 0);
  assert.equal(lines.at(at(20)).word.text, "One");
  assert.equal(lines.at(at(209)).charIndex, 3);
  assert.equal(lines.at(at(900)).charIndex, 8);
});

test("offsets are in UTF-16 units", () => {
  const lines = timeline("😀 Hi.");
  const { charStart, charEnd } = lines.addSegment(segment(0, "Hi.", 2, 0));
  assert.equal("😀 Hi.".slice(charStart, charEnd), "Hi.");
});

test("parts of one segment light up one by one, and to the word once words are known", () => {
  const lines = timeline("I am here with you.");
  lines.addSegment(segment(0, "I am here", 0, 0));
  lines.addSegment(segment(0, " with you.", 9, 400));
  assert.equal(lines.at(at(100)).charIndex, 9);
  assert.equal(lines.at(at(400)).charIndex, 19);
  lines.addWords([
    { text: "here", char_start: 5, char_end: 9, start_ms: 300, end_ms: 700 },
    { text: "with", char_start: 10, char_end: 14, start_ms: 700, end_ms: 900 },
  ]);
  const { segment: part, word, charIndex } = lines.at(at(600)); // a part is told before it is heard
  assert.deepEqual([part.charStart, word.text, charIndex], [0, "here", 9]);
  assert.equal(lines.at(at(700)).segment.charStart, 9);
});

test("what is told twice, since a context was begun anew, stands once", () => {
  const lines = timeline("One. Two.");
  const words = [{ text: "One.", char_start: 0, char_end: 4, start_ms: 0, end_ms: 300 }];
  for (let i = 0; i < 2; i += 1) {
    lines.addSegment(segment(0, "One.", 0, 0));
    lines.addWords(words);
  }
  assert.equal(lines.segments.length, 1);
  assert.equal(lines.words.length, 1);
});
