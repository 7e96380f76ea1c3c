class Recorder extends AudioWorkletProcessor {
  #samples = new Float32Array(1024);
  #length = 0;

  process([input]) {
    this.#samples.set(input[0] ?? new Float32Array(128), this.#length);
    this.#length += 128;
    if (this.#length < this.#samples.length) return true;
    const time = currentTime + (128 - this.#length) / sampleRate;
    this.port.postMessage({ time, samples: this.#samples });
    this.#length = 0;
    return true;
  }
}

registerProcessor("recorder", Recorder);
