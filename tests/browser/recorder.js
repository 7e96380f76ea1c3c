// Runs before the page's own scripts: keeps every sample that goes to the loudspeaker, with its
// place on the context's clock, and notes when things happened.
(() => {
  const blocks = [];
  const marks = {};
  const taps = new Map();
  let current;
  const connect = AudioNode.prototype.connect;

  function keep(context, time, samples) {
    blocks.push({ time, rate: context.sampleRate, samples });
  }

  function asBlob() {
    return URL.createObjectURL(new Blob([window.recorderSource], { type: "text/javascript" }));
  }

  function tapByWorklet(context, node) {
    const recorder = new AudioWorkletNode(context, "recorder", { outputChannelCount: [1] });
    recorder.port.onmessage = (event) => keep(context, event.data.time, event.data.samples);
    connect.call(node, recorder);
    connect.call(recorder, context.destination);
  }

  function tapByProcessor(context, node) {
    const recorder = context.createScriptProcessor(1024, 1, 1);
    recorder.onaudioprocess = ({ inputBuffer, playbackTime }) => {
      keep(context, playbackTime, inputBuffer.getChannelData(0).slice());
    };
    connect.call(node, recorder);
    connect.call(recorder, context.destination);
  }

  AudioNode.prototype.connect = function (destination, ...rest) {
    const { context } = this;
    if (destination === context.destination) {
      current = context;
      if (context.audioWorklet === undefined) tapByProcessor(context, this);
      else taps.set(context.audioWorklet, () => tapByWorklet(context, this));
    }
    return connect.call(this, destination, ...rest);
  };

  if (globalThis.AudioWorklet) {
    const addModule = AudioWorklet.prototype.addModule;
    AudioWorklet.prototype.addModule = async function (url) {
      // A server of ours has it as a file, since its policy allows no blob:.
      await addModule.call(this, new URL("__recorder.js", document.baseURI)).catch(() => addModule.call(this, asBlob()));
      taps.get(this)?.();
      taps.delete(this);
      return addModule.call(this, url);
    };
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (message, ...rest) {
      if (message?.type === "push") marks.pushed ??= performance.now();
      return post.call(this, message, ...rest);
    };
  }
  addEventListener("click", () => (marks.clicked = performance.now()), true);

  function joined() {
    const all = new Float32Array(blocks.reduce((sum, block) => sum + block.samples.length, 0));
    let at = 0;
    for (const { samples } of blocks) {
      all.set(samples, at);
      at += samples.length;
    }
    return all;
  }

  window.recording = {
    blocks,
    marks,
    context: () => current,
    forget: () => blocks.splice(0),
    /** All samples so far as base64 of 32-bit floats, and the time of the first. */
    all() {
      const bytes = new Uint8Array(joined().buffer);
      let text = "";
      for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
      return { rate: blocks[0]?.rate ?? 0, start: blocks[0]?.time ?? 0, data: btoa(text) };
    },
    loud: () => blocks.some(({ samples }) => samples.some((sample) => Math.abs(sample) > 0.003)),
  };
})();
