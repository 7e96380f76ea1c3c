import assert from "node:assert/strict";
import { test } from "node:test";
import { Deltas, GrowingText } from "../dist/text.js";

test("code points before any emoji are UTF-16 units", () => {
  const text = new GrowingText();
  text.append("plain text, 中文");
  assert.equal(text.utf16(12), 12);
  assert.equal(text.points, 14);
});

test("each character beyond the basic plane shifts what follows by one", () => {
  const text = new GrowingText();
  for (const delta of ["a😀", "b", "🎉🎉", "c"]) text.append(delta);
  const characters = Array.from(text.text);
  for (let point = 0; point <= characters.length; point += 1) {
    assert.equal(text.utf16(point), characters.slice(0, point).join("").length);
  }
});

test("a surrogate pair cut between two deltas is sent whole", () => {
  const deltas = new Deltas();
  const [high, low] = "😀";
  const pieces = [deltas.push("a" + "😀"[0]), deltas.push("😀"[1] + "b"), deltas.end()];
  assert.deepEqual(pieces, ["a", "😀b", ""]);
  assert.ok(high && !low);
});

test("a lone surrogate, which JSON cannot carry, becomes a replacement character", () => {
  const deltas = new Deltas();
  assert.equal(deltas.push("a\udc00b\ud800c"), "a\ufffdb\ufffdc");
  assert.equal(deltas.push("d\ud83d"), "d");
  assert.equal(deltas.end(), "\ufffd");
});
