import assert from "node:assert/strict";
import { test } from "node:test";
import { Script } from "../dist/script.js";

const types = (messages) => messages.map(({ type, seq, id }) => seq ?? id ?? type);

test("deltas are numbered from one, and empty ones are not sent", () => {
  const script = new Script("a");
  const sent = [...script.append("One ", 0), ...script.append("", 1), ...script.append("two.", 2)];
  assert.deepEqual(sent, [
    { type: "text", ctx: "a", delta: "One ", seq: 1 },
    { type: "text", ctx: "a", delta: "two.", seq: 2 },
  ]);
});

test("after a resume only what the server has not accepted is said again, the end always", () => {
  const script = new Script("a");
  script.append("One. ", 0);
  script.flush(1);
  script.append("Two. ", 2);
  script.flush(3);
  script.end(4);
  script.flushed("f1");
  assert.deepEqual(types(script.replay(1)), [2, "f2", "end"]);
  assert.deepEqual(types(script.replay(2)), ["f2", "end"]);
});

test("a server that knows nothing is told everything, answered flushes too", () => {
  const script = new Script("a");
  script.append("One. ", 0);
  script.flush(1);
  script.flushed("f1");
  script.append("Two.", 2);
  assert.deepEqual(types(script.replay(0)), [1, "f1", 2]);
});

test("a second end says nothing", () => {
  const script = new Script("a");
  assert.equal(script.end(0).length, 1);
  assert.equal(script.end(1).length, 0);
});

test("half a surrogate pair waits, and the end lets it go", () => {
  const script = new Script("a");
  assert.deepEqual(script.append("\ud83d", 0), []);
  assert.deepEqual(types(script.append("\ude00!", 1)), [1]);
  assert.equal(script.text.text, "😀!");
});

test("a first segment is complete with the delta that brought its last character", () => {
  const script = new Script("a");
  for (const [at, delta] of ["Hel", "lo.", " And", " more."].entries()) script.append(delta, at * 100);
  script.end(900);
  assert.equal(script.completedAt(6), 100);
});

test("or with the flush or end that let it go, where no word followed", () => {
  const flushed = new Script("a");
  flushed.append("Hello", 0);
  flushed.flush(500);
  flushed.append(" and more", 900);
  assert.equal(flushed.completedAt(5), 500);
  const ended = new Script("b");
  ended.append("Hello ", 0);
  ended.end(700);
  assert.equal(ended.completedAt(5), 700);
});
