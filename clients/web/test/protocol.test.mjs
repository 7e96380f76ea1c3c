import assert from "node:assert/strict";
import { test } from "node:test";
import { CosystreamError } from "../dist/errors.js";
import { streamUrl } from "../dist/address.js";
import { parseAudio } from "../dist/protocol.js";

function message({ kind = 0x11, flags = 0, sid = 1, seq = 1, pts = 0n, payload = [1, 2, 3] } = {}) {
  const buffer = new ArrayBuffer(16 + payload.length);
  const view = new DataView(buffer);
  view.setUint8(0, kind);
  view.setUint8(1, flags);
  view.setUint16(2, sid);
  view.setUint32(4, seq);
  view.setBigUint64(8, pts);
  new Uint8Array(buffer, 16).set(payload);
  return buffer;
}

test("the header is read as the specification lays it out", () => {
  const { header, packet } = parseAudio(message({ flags: 1 | 4 | 16, sid: 65_535, seq: 4_000_000_000, pts: 2n ** 40n }));
  assert.deepEqual(header, {
    first: true,
    last: false,
    discontinuity: true,
    silence: false,
    resent: true,
    sid: 65_535,
    seq: 4_000_000_000,
    pts: 2 ** 40,
  });
  assert.deepEqual([...packet], [1, 2, 3]);
});

for (const [name, bytes] of [
  ["empty", new ArrayBuffer(0)],
  ["shorter than the header", new ArrayBuffer(15)],
  ["without a packet", message({ payload: [] })],
  ["of another version", message({ kind: 0x21 })],
]) {
  test(`a binary message that is ${name} is refused`, () => {
    assert.throws(() => parseAudio(bytes), (error) => error instanceof CosystreamError && error.code === "bad_message");
  });
}

test("the stream is found from wherever the server is said to be", () => {
  const at = (url, base) => streamUrl(url, base);
  assert.equal(at("https://tts.example.com", undefined), "wss://tts.example.com/v1/stream");
  assert.equal(at("http://127.0.0.1:8000/", undefined), "ws://127.0.0.1:8000/v1/stream");
  assert.equal(at("wss://example.com/tts/", undefined), "wss://example.com/tts/v1/stream");
  assert.equal(at("wss://example.com/tts/v1/stream", undefined), "wss://example.com/tts/v1/stream");
  assert.equal(at(undefined, "https://example.com/some/page.html#part"), "wss://example.com/some/v1/stream");
  assert.equal(at("./tts/", "https://example.com/some/page.html"), "wss://example.com/some/tts/v1/stream");
});
