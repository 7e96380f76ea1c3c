import assert from "node:assert/strict";
import { test } from "node:test";
import { opusSamples } from "../dist/decode/packet.js";
import { pcmDecoder } from "../dist/decode/pcm.js";
import { TrackDecoder } from "../dist/decode/track.js";
import { CosystreamError } from "../dist/errors.js";

test("a packet's length is read from its first bytes", () => {
  const celt20 = 31 << 3;
  const silk60 = 3 << 3;
  const hybrid10 = 12 << 3;
  assert.equal(opusSamples(Uint8Array.of(celt20)), 960);
  assert.equal(opusSamples(Uint8Array.of(celt20 | 1)), 1920);
  assert.equal(opusSamples(Uint8Array.of(celt20 | 3, 4)), 3840);
  assert.equal(opusSamples(Uint8Array.of(silk60)), 2880);
  assert.equal(opusSamples(Uint8Array.of(hybrid10 | 2)), 960);
  assert.equal(opusSamples(new Uint8Array()), 0);
});

test("PCM is little-endian and full scale is one", () => {
  const heard = [];
  const bytes = Uint8Array.of(9, 0x00, 0x80, 0xff, 0x7f, 0x00, 0x40);
  pcmDecoder({ samples: (samples) => heard.push(...samples) }).decode(bytes.subarray(1));
  assert.deepEqual(heard.map((sample) => Math.round(sample * 1000) / 1000), [-1, 1, 0.5]);
});

const PRE_SKIP = 312;
/** An 80 ms packet whose samples all have the value of its third byte. */
const packet = (value) => Uint8Array.of((31 << 3) | 3, 4, value);

/** Decoders that a test can break: each puts out 3840 samples of the packet's value. */
class Paths {
  opened = [];
  failures = [];
  constructor(...behaviours) {
    this.behaviours = behaviours;
  }

  async opus(sink) {
    const behaviour = this.behaviours[this.opened.length];
    if (behaviour === undefined) throw new CosystreamError("no_decoder", "none left");
    let count = 0;
    const decoder = {
      closed: false,
      decode: (data) => {
        count += 1;
        if (behaviour.failsAt === count) sink.failed(new Error("broken"));
        else setTimeout(() => sink.samples(new Float32Array(3840).fill(data[2])), behaviour.delay ?? 0);
      },
      flush: () => new Promise((resolve) => setTimeout(resolve, (behaviour.delay ?? 0) + 1)),
      close: () => (decoder.closed = true),
    };
    this.opened.push(decoder);
    return { path: `path${this.opened.length}`, decoder };
  }

  failed(path) {
    this.failures.push(path);
  }
}

function track(paths) {
  const heard = [];
  const errors = [];
  const decoder = new TrackDecoder(paths, "opus", PRE_SKIP, {
    samples: (position, samples) => samples.forEach((sample, i) => (heard[position + i] = sample)),
    failed: (error) => errors.push(error),
  });
  return { decoder, heard, errors };
}

test("the pre-skip is dropped once, and all else comes out in order", async () => {
  const { decoder, heard } = track(new Paths({}));
  for (const value of [1, 2, 3]) decoder.push(packet(value), 0, false);
  await decoder.drain();
  assert.equal(heard.length, 3 * 3840 - PRE_SKIP);
  assert.equal(heard.indexOf(2), 3840 - PRE_SKIP);
});

test("packets that a failed decoder still owed are decoded by the next one", async () => {
  const paths = new Paths({ failsAt: 4, delay: 5 }, {});
  const { decoder, heard, errors } = track(paths);
  for (const value of [1, 2, 3, 4, 5, 6]) decoder.push(packet(value), 0, false);
  await decoder.drain();
  assert.deepEqual(paths.failures, ["path1"]);
  assert.equal(paths.opened[0].closed, true);
  assert.deepEqual(errors, []);
  assert.equal(heard.length, 6 * 3840 - PRE_SKIP);
  assert.ok(heard.every((sample, i) => sample === Math.floor((i + PRE_SKIP) / 3840) + 1));
});

test("when no decoder is left that is said", async () => {
  const { decoder, errors } = track(new Paths({ failsAt: 1 }));
  decoder.push(packet(1), 0, false);
  await decoder.drain();
  assert.deepEqual(errors.map(({ code }) => code), ["no_decoder"]);
});

test("after close nothing that was on its way comes out", async () => {
  const { decoder, heard } = track(new Paths({ delay: 20 }));
  decoder.push(packet(1), 0, false);
  await new Promise((resolve) => setTimeout(resolve, 5));
  decoder.close();
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.deepEqual(heard, []);
});

test("a decoder that is still opening when it is closed is closed too", async () => {
  const paths = new Paths({});
  const { decoder } = track(paths);
  decoder.push(packet(1), 0, false);
  decoder.close();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(paths.opened[0].closed, true);
});

test("after a discontinuity positions follow the packet's own", async () => {
  const { decoder, heard } = track(new Paths({}));
  decoder.push(packet(1), 0, false);
  decoder.push(packet(2), 38_400, true);
  await decoder.drain();
  assert.equal(heard.indexOf(2), 38_400 - PRE_SKIP);
});
