// Runs before the page's own scripts: keeps every sample that is sent to the loudspeaker.
(() => {
  const blocks = [];
  const taps = new WeakSet();
  const connect = AudioNode.prototype.connect;

  function tap(node) {
    const { context } = node;
    if (taps.has(node)) return;
    taps.add(node);
    const recorder = context.createScriptProcessor(1024, 1, 1);
    recorder.onaudioprocess = (event) => {
      const samples = event.inputBuffer.getChannelData(0);
      blocks.push({ at: performance.now(), time: event.playbackTime, rate: context.sampleRate, samples: samples.slice() });
    };
    connect.call(node, recorder);
    connect.call(recorder, context.destination);
  }

  AudioNode.prototype.connect = function (destination, ...rest) {
    if (destination === this.context.destination) tap(this);
    return connect.call(this, destination, ...rest);
  };

  window.recording = {
    blocks,
    /** All samples so far, the silence before and after the sound taken off. */
    sound() {
      const all = blocks.flatMap((block) => [...block.samples]);
      const first = all.findIndex((sample) => Math.abs(sample) > 0.003);
      const last = all.findLastIndex((sample) => Math.abs(sample) > 0.003);
      return first < 0 ? [] : all.slice(first, last + 1);
    },
    rate: () => blocks[0]?.rate,
    /** Milliseconds since a sound was last heard in a recorded block. */
    lastLoudAt: () => blocks.findLast((block) => block.samples.some((sample) => Math.abs(sample) > 0.003))?.at ?? 0,
  };
})();
