import assert from "node:assert/strict";
import { test } from "node:test";
import { Ring } from "../dist/audio/worklet.js";

const RATE = 48_000;
const QUANTUM = 128;

/** A ring and its loudspeaker. */
class Rig {
  told = [];
  heard = [];
  time = 0;
  ring = new Ring(RATE, (message) => this.told.push(message));
  at = new Map();

  open(track) {
    this.ring.handle({ type: "open", track });
    this.at.set(track, 0);
  }

  /** Samples of one value, so that it can be seen whose they are. */
  push(track, ms, value) {
    const samples = new Float32Array(ms * 48).fill(value);
    this.ring.handle({ type: "push", track, position: this.at.get(track), samples });
    this.at.set(track, this.at.get(track) + samples.length);
  }

  end(track, ms = this.at.get(track) / 48) {
    this.ring.handle({ type: "end", track, position: ms * 48 });
  }

  run(ms) {
    for (let left = Math.round(ms * 48); left > 0; left -= QUANTUM) {
      const out = new Float32Array(QUANTUM);
      this.ring.render(out, this.time);
      this.time += QUANTUM / RATE;
      this.heard.push(...out);
    }
  }

  count(value) {
    return this.heard.filter((sample) => Math.abs(sample - value) < 1e-6).length;
  }

  types() {
    return this.told.map(({ type }) => type).filter((type) => type !== "played");
  }
}

test("sound begins once 80 ms are there, with the first sample", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 40, 0.5);
  rig.run(20);
  assert.equal(rig.count(0.5), 0);
  rig.push(1, 40, 0.5);
  rig.run(10);
  assert.deepEqual(rig.types(), ["started"]);
  assert.equal(rig.heard[Math.round(20 * 48 / QUANTUM + 0.5) * QUANTUM], 0.5);
});

test("a text shorter than that begins when it has ended", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 30, 0.5);
  rig.end(1);
  rig.run(50);
  assert.equal(rig.count(0.5), 30 * 48);
  assert.deepEqual(rig.types(), ["started", "drained"]);
});

test("and when it has waited for so long though no more has come", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 20, 0.5);
  rig.run(70);
  assert.equal(rig.count(0.5), 0);
  rig.run(40);
  assert.ok(rig.count(0.5) > 0);
});

test("nothing beyond the end is heard", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 80, 0.5);
  rig.push(1, 80, 0.5);
  rig.end(1, 100);
  rig.run(300);
  assert.equal(rig.count(0.5), 100 * 48);
});

test("tracks are heard in the order they were opened, without a gap where both are there", () => {
  const rig = new Rig();
  rig.open(1);
  rig.open(2);
  rig.push(2, 160, 0.25);
  rig.push(1, 160, 0.5);
  rig.end(1);
  rig.end(2);
  rig.run(500);
  const sound = rig.heard.filter((sample) => sample !== 0);
  assert.equal(sound.length, 320 * 48);
  assert.equal(sound.indexOf(0.25), 160 * 48);
});

test("a track that is dropped is silent at once, but for a ramp of 5 ms", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 400, 0.5);
  rig.run(100);
  const before = rig.heard.length;
  rig.ring.handle({ type: "drop", track: 1 });
  rig.run(100);
  const after = rig.heard.slice(before);
  const fade = after.slice(0, 240);
  assert.ok(fade.every((sample, i) => i === 0 || sample <= fade[i - 1]));
  assert.ok(after.slice(240).every((sample) => sample === 0));
});

test("the next track after a drop is heard whole", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 400, 0.5);
  rig.run(100);
  rig.ring.handle({ type: "drop", track: 1 });
  rig.open(2);
  rig.push(2, 200, 0.75);
  rig.push(1, 80, 0.5);
  rig.end(2);
  rig.run(400);
  assert.equal(rig.count(0.75), 200 * 48);
});

test("where it runs dry it tells so, fades, and comes back after the target with the gap's length", () => {
  const rig = new Rig();
  rig.open(1);
  rig.push(1, 80, 0.5);
  rig.run(200);
  rig.ring.handle({ type: "target", ms: 120 });
  rig.push(1, 80, 0.5);
  rig.run(30);
  assert.deepEqual(rig.types(), ["started", "dry"]);
  rig.push(1, 80, 0.5);
  rig.run(100);
  assert.deepEqual(rig.types(), ["started", "dry", "resumed"]);
  const { gapMs, position } = rig.told.find(({ type }) => type === "resumed");
  assert.ok(Math.abs(gapMs - 150) < 5, `${gapMs} ms`);
  assert.equal(position, 80 * 48);
  const steps = rig.heard.slice(1).map((sample, i) => Math.abs(sample - rig.heard[i]));
  assert.deepEqual(steps.filter((step) => step > 0.1), []);
});

test("played is told some fifty times a second, in 48 kHz samples whatever the device's rate", () => {
  const told = [];
  const ring = new Ring(16_000, (message) => told.push(message));
  ring.handle({ type: "open", track: 1 });
  ring.handle({ type: "push", track: 1, position: 0, samples: new Float32Array(16_000).fill(0.5) });
  for (let i = 0; i < 100; i += 1) ring.render(new Float32Array(128), (i * 128) / 16_000);
  const played = told.filter(({ type }) => type === "played");
  assert.ok(played.length >= 30 && played.length <= 50, `${played.length}`);
  assert.equal(played.at(-1).position, Math.round(played.at(-1).time * 48_000));
});
