// A page with nothing but the client, and everything the tests want to know about it.
import { Speaker } from "../sdk/index.js";

const query = new URLSearchParams(location.search);
const log = [];
const options = { url: "../", ...JSON.parse(query.get("options") ?? "{}") };
const speaker = new Speaker(options);
for (const event of ["state", "blocked", "decoder", "backend", "start", "segment", "words", "warning", "error", "done", "stats"]) {
  speaker.on(event, (payload) => log.push({ event, at: performance.now(), payload: plain(event, payload) }));
}

/** What can be handed to a test: no utterances, no Error objects. */
function plain(event, payload) {
  if (event === "error") return { code: payload.error.code, message: payload.error.message };
  if (typeof payload !== "object") return payload;
  const { utterance, ...rest } = payload;
  return utterance ? { ...rest, id: utterance.id } : rest;
}

window.harness = {
  speaker,
  log,
  utterances: [],
  clickedAt: 0,
  text: query.get("text") ?? "440Hz. A tone that goes on for a while.",
  speak(text, speakOptions) {
    const utterance = speaker.speak(text, speakOptions);
    this.utterances.push(utterance);
    return utterance;
  },
  events(event) {
    return log.filter((entry) => entry.event === event).map((entry) => entry.payload);
  },
};

document.querySelector("#speak").onclick = () => {
  harness.clickedAt = performance.now();
  harness.speak(harness.text);
};
document.querySelector("#stop").onclick = () => speaker.cancel();
if (query.has("connect")) speaker.connect();
if (query.has("speak")) harness.speak(harness.text);
