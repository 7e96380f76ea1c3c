import assert from "node:assert/strict";
import { test } from "node:test";
import { JitterTarget } from "../dist/audio/jitter.js";
import { LevelMeter } from "../dist/audio/levels.js";
import { Resampler } from "../dist/audio/resampler.js";

function tone(hz, rate, samples, amplitude = 0.5) {
  return Float32Array.from({ length: samples }, (_, i) => amplitude * Math.sin((2 * Math.PI * hz * i) / rate));
}

function resample(input, to, piece) {
  const resampler = new Resampler(48_000, to);
  const parts = [];
  for (let i = 0; i < input.length; i += piece) parts.push(...resampler.process(input.subarray(i, i + piece)));
  return [...parts, ...resampler.flush()];
}

for (const rate of [8000, 16_000, 22_050, 44_100, 96_000]) {
  test(`a tone at 48 kHz is the same tone at ${rate} Hz, in place to the sample`, () => {
    const output = resample(tone(440, 48_000, 24_000), rate, 3840);
    assert.ok(Math.abs(output.length - rate / 2) <= 1, `${output.length} samples`);
    const wanted = tone(440, rate, output.length);
    const inner = output.slice(200, -200).map((sample, i) => Math.abs(sample - wanted[i + 200]));
    assert.ok(Math.max(...inner) < 0.002, `off by ${Math.max(...inner)}`);
  });
}

test("however it is cut into pieces the output is the same", () => {
  const input = tone(1000, 48_000, 9600);
  const whole = resample(input, 44_100, 9600);
  for (const piece of [1, 7, 128, 3841]) assert.deepEqual(resample(input, 44_100, piece), whole);
});

test("what the lower rate cannot carry does not fold back into it", () => {
  const output = resample(tone(15_000, 48_000, 24_000), 16_000, 3840);
  assert.ok(Math.max(...output.slice(500, -500).map(Math.abs)) < 0.003);
});

test("the jitter target begins at 80 ms, rises with each underrun to 200, and falls in quiet times", () => {
  const target = new JitterTarget();
  const seen = [target.ms];
  for (let i = 0; i < 4; i += 1) {
    target.underrun(i * 100);
    seen.push(target.ms);
  }
  assert.deepEqual(seen, [80, 120, 160, 200, 200]);
  assert.equal(target.smooth(5000), false);
  assert.equal(target.smooth(10_400), true);
  assert.equal(target.ms, 180);
  for (let ms = 20_400; ms < 200_000; ms += 10_000) target.smooth(ms);
  assert.equal(target.ms, 80);
});

test("levels are told every 20 ms, from 0 in silence to 1 at full scale", () => {
  const meter = new LevelMeter();
  assert.deepEqual(meter.push(new Float32Array(1919)), [0]);
  assert.equal(meter.startMs, 20);
  assert.deepEqual(meter.push(new Float32Array(1)), [0]);
  assert.deepEqual(meter.push(new Float32Array(960).fill(1)), [1]);
  const [half] = meter.push(new Float32Array(960).fill(0.5));
  assert.ok(Math.abs(half - 0.9) < 0.001);
});
