/** Voices over HTTP against a server that answers as it is told, and recordings as files. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { CosystreamError, Voices } from "../dist/index.js";
import { httpUrl } from "../dist/address.js";
import { wav } from "../dist/recording/wav.js";

let server;
let url;
let asked;
let answer;

before(async () => {
  server = createServer(({ method, url: path, headers }, response) => {
    asked.push({ method, path, key: headers.authorization });
    response.writeHead(answer.status, { "Content-Type": "application/json" }).end(answer.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}/tts/`;
});

after(() => server.close());

beforeEach(() => {
  asked = [];
});

test("voices are listed with the key of whoever reads the page", async () => {
  const list = { voices: [{ id: "heart", name: "Heart", languages: ["en"], cloned: false }], default: "heart", cloning: true };
  answer = { status: 200, body: JSON.stringify(list) };
  assert.deepEqual(await new Voices({ url, key: () => "secret" }).list(), list);
  assert.deepEqual(asked, [{ method: "GET", path: "/tts/v1/voices", key: "Bearer secret" }]);
});

test("without a key none is sent", async () => {
  answer = { status: 200, body: "{}" };
  await new Voices({ url, key: "" }).list();
  assert.equal(asked[0].key, undefined);
});

test("a voice is deleted by its id, which is no path", async () => {
  answer = { status: 204, body: "" };
  await new Voices({ url }).delete("../tokens?x");
  assert.deepEqual(asked[0], { method: "DELETE", path: "/tts/v1/voices/..%2Ftokens%3Fx", key: undefined });
});

test("a refusal has the server's code, words and status", async () => {
  const error = { code: "unknown_voice", message: "no such voice", status: 404, retryable: false, retry_after_ms: null };
  answer = { status: 404, body: JSON.stringify({ error }) };
  await assert.rejects(new Voices({ url }).delete("v-x"), (thrown) => {
    assert.ok(thrown instanceof CosystreamError);
    assert.deepEqual([thrown.code, thrown.message, thrown.status], ["unknown_voice", "no such voice", 404]);
    return true;
  });
});

test("the page of a proxy is told by its status", async () => {
  answer = { status: 502, body: "<html>" };
  await assert.rejects(new Voices({ url }).list(), { code: "refused", message: "HTTP 502" });
});

test("nobody there is told as such, and may be tried again", async () => {
  await assert.rejects(new Voices({ url: "http://127.0.0.1:1/" }).list(), { code: "server_unreachable", retryable: true });
});

test("a path of the server stands where its WebSocket does", () => {
  const at = (server, base) => httpUrl(server, base, "/v1/voices");
  assert.equal(at("https://tts.example.com"), "https://tts.example.com/v1/voices");
  assert.equal(at("wss://example.com/tts/v1/stream"), "https://example.com/tts/v1/voices");
  assert.equal(at(undefined, "http://localhost:8000/some/page.html#x"), "http://localhost:8000/some/v1/voices");
});

test("a recording is a WAVE file, rounded to 16 bits, what is too loud cut off", async () => {
  const file = wav([new Float32Array([0, 0.5]), new Float32Array([-1, 1.5])], 44_100);
  const view = new DataView(await file.arrayBuffer());
  const letters = (at) => String.fromCharCode(...new Uint8Array(view.buffer, at, 4));
  assert.deepEqual([letters(0), letters(8), letters(12), letters(36)], ["RIFF", "WAVE", "fmt ", "data"]);
  assert.equal(view.getUint32(4, true), view.byteLength - 8);
  assert.deepEqual([view.getUint16(20, true), view.getUint16(22, true)], [1, 1]);
  assert.deepEqual([view.getUint32(24, true), view.getUint32(28, true)], [44_100, 88_200]);
  assert.equal(view.getUint32(40, true), 8);
  assert.deepEqual([0, 1, 2, 3].map((i) => view.getInt16(44 + 2 * i, true)), [0, 16384, -32767, 32767]);
  assert.equal(file.type, "audio/wav");
});
