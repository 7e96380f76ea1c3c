/** The page that talks: its controls, and what it shows of the client's events. */

import { type CosystreamError, Speaker, type SpeakOptions, type Stats, type Utterance, type VoiceList } from "./sdk/index.js";
import * as access from "./access.js";
import { Choice } from "./choice.js";
import { Cloning } from "./cloning.js";
import { Editor } from "./editor.js";
import { byServer, figures } from "./figures.js";
import { Live, LIVE_OPTIONS } from "./live.js";
import { programs } from "./program.js";
import { fill, LANGUAGES, prefer, preferred, type Texts, translate } from "./texts.js";
import { list } from "./voices.js";
import { Wave } from "./wave.js";
import { written } from "./writer.js";

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const query = new URLSearchParams(location.search);
const editor = new Editor(element("text"), element("lights"));
const wave = new Wave(element("wave"));
const speaker = new Speaker({ getToken: access.token });
const live = new Live(speaker, editor, () => begin({ ...LIVE_OPTIONS }));
const voiceList = element<HTMLSelectElement>("voice");
const choice = new Choice(voiceList, query.get("voice"));
const speed = element<HTMLInputElement>("speed");
const instruct = element<HTMLInputElement>("instruct");
const liveSwitch = element<HTMLInputElement>("live");

let language = preferred();
let texts: Texts = LANGUAGES[language];
let backend = "";
/** Whether the server chose the voice of what is being spoken. */
let chosen = false;
const cloning = new Cloning(() => texts, { changed: loadVoices, chosen: choose, recording: stop });
/** Whether the server is loading its model, and whether it is to speak when it has. */
let loading = false;
let asked = false;
/** Where in the text each utterance that is not live begins. */
const bases = new WeakMap<Utterance, number>();

// --- what the reader does -------------------------------------------------------------------

function options(): SpeakOptions {
  const { voice, instructs } = choice;
  return { voice, speed: Number(speed.value), instruct: (instructs && instruct.value.trim()) || undefined };
}

/** A new utterance instead of what is being spoken. */
function begin(more: SpeakOptions): Utterance {
  const utterance = speaker.open({ ...options(), ...more, when: "interrupt" });
  forget();
  return utterance;
}

function forget(): void {
  wave.clear();
  editor.dark();
  say("");
  element("problem").hidden = true;
  chosen = false;
  hint();
  byServer(undefined, texts);
}

function speak(): void {
  speaker.unlock();
  if (liveSwitch.checked) return live.flush();
  if (editor.value.trim() === "") return problem(texts.nothing, "");
  asked = loading && choice.empty;
  if (asked) return;
  const utterance = begin({});
  utterance.write(editor.value);
  utterance.end();
}

async function letWrite(): Promise<void> {
  speaker.unlock();
  liveSwitch.checked = false;
  const answer = language === "zh" && choice.speaksChinese ? texts.answer : LANGUAGES.en.answer;
  const utterance = begin({});
  editor.value = "";
  for await (const token of written(answer, (text) => utterance.active && editor.append(text))) {
    if (!utterance.active) return;
    utterance.write(token);
  }
  utterance.end();
}

function stop(): void {
  asked = false;
  const focused = document.activeElement === element("stop");
  speaker.cancel();
  if (focused) element("speak").focus(); // a button that is disabled would lose it to nowhere
}

// --- what the page shows --------------------------------------------------------------------

function problem(text: string, detail: string): void {
  element("problem-text").textContent = text;
  element("problem-detail").textContent = detail;
  element("problem").hidden = false;
}

function failed(error: CosystreamError): void {
  const known = (texts as unknown as Record<string, unknown>)[error.code];
  const text = typeof known === "string" ? known : texts.failed;
  if (error.code === "unauthorized") {
    element("access").hidden = false;
    element("key").focus();
    if (access.key() === "") return;
  }
  problem(fill(text, { languages: choice.languages(texts) }), error.message);
  say("");
}

function hint(): void {
  element("hint").textContent = hinted();
}

function hinted(): string {
  if (loading) return texts.loading;
  if (chosen) return texts.voiceChosen;
  if (liveSwitch.checked) return texts.hintLive;
  if (speaker.decoder === "pcm") return texts.hintPcm;
  if (backend === "buffer" || (backend !== "" && !isSecureContext)) return texts.hintInsecure;
  const languages = choice.languages(texts);
  return languages && `${choice.about(texts)}${fill(texts.hintLanguages, { languages })}`;
}

function say(text: string): void {
  element("said").textContent = text;
}

function connection(): void {
  element("connection").dataset["state"] = speaker.state;
  element("connection-text").textContent = texts[speaker.state];
}

function measured(stats: Stats): void {
  figures(stats, texts);
  element<HTMLButtonElement>("stop").disabled = speaker.utterances.length === 0;
}

function path(): void {
  element("decoder").textContent = speaker.decoder === undefined ? "–" : texts[speaker.decoder];
  element("backend").textContent = backend === "" ? "" : backend === "worklet" ? texts.worklet : texts.scheduled;
  hint();
}

function relabel(): void {
  translate(texts);
  const other = element("language");
  other.textContent = texts.other;
  other.setAttribute("aria-label", texts.otherLabel);
  other.lang = language === "zh" ? "en" : "zh-CN";
  choice.relabel(texts);
  cloning.relabel();
  speed.dispatchEvent(new Event("input"));
  connection();
  path();
  measured(speaker.stats);
}

async function loadVoices(chosen?: string): Promise<void> {
  let voices: VoiceList;
  try {
    voices = await list(cloning.voices, () => load(true));
  } catch (error) {
    const { code, message } = error as CosystreamError;
    if (code === "unauthorized") element("access").hidden = false;
    else problem(texts.voicesFailed, message);
    return;
  }
  load(false);
  choice.take(voices, texts);
  program();
  element("instruct-field").hidden = !choice.instructs;
  cloning.show(voices);
  if (chosen !== undefined) choose(chosen);
  offer();
  hint();
  if (asked) speak();
}

function load(state: boolean): void {
  if (state === loading) return;
  loading = state;
  if (loading) say(texts.loading);
  else say(speaker.utterances.length > 0 ? texts.speaking : "");
  hint();
}

function choose(voice: string): void {
  choice.choose(voice);
  hint();
  program();
}

function program(): void {
  element("programs").textContent = programs(new URL(".", location.href).href, choice.voice);
}

// --- the client's events --------------------------------------------------------------------

speaker.on("state", connection);
speaker.on("stats", measured);
speaker.on("decoder", path);
speaker.on("backend", ({ kind }) => {
  backend = kind;
  path();
});
speaker.on("blocked", (blocked) => {
  element("hear").hidden = !blocked;
  if (blocked) say(texts.hear);
});
speaker.on("start", () => say(texts.speaking));
speaker.on("segment", () => load(false));
speaker.on("levels", ({ startMs, values }) => wave.add(startMs, values));
speaker.on("progress", ({ utterance, playedMs, segment, word, charIndex }) => {
  wave.move(playedMs);
  const base = live.base(utterance) ?? bases.get(utterance) ?? 0;
  const start = word?.charStart ?? segment?.charStart ?? 0;
  if (segment !== undefined) editor.light(base, utterance.text, Math.min(start, charIndex), charIndex);
});
speaker.on("done", ({ result }) => {
  say(result.reason === "completed" ? texts.finished : texts.stopped);
  byServer(result.server, texts);
});
speaker.on("warning", ({ code, message }) => {
  if (code === "nothing_to_speak") problem(texts.unwritten, "");
  else if (code === "option_ignored") problem(fill(texts.ignored, { detail: message }), "");
  else if (code === "engine_loading") load(true);
  else if (code === "going_away") say(texts.draining);
  else if (code === "voice_chosen") {
    chosen = true;
    hint();
  }
});
speaker.on("error", ({ error }) => failed(error));

// --- the controls ---------------------------------------------------------------------------

element("speak").onclick = speak;
element("stop").onclick = stop;
element("llm").onclick = () => void letWrite();
element("hear").onclick = () => speaker.unlock();
element("problem-close").onclick = () => {
  element("problem").hidden = true;
  editor.area.focus();
};
element("language").onclick = () => {
  language = language === "zh" ? "en" : "zh";
  texts = LANGUAGES[language];
  prefer(language);
  relabel();
  offer();
};
element<HTMLFormElement>("access").onsubmit = (event) => {
  event.preventDefault();
  access.keep(element<HTMLInputElement>("key").value.trim());
  element("access").hidden = true;
  element("problem").hidden = true;
  speaker.connect();
  void loadVoices();
};
speed.oninput = () => {
  element("speed-value").textContent = `${Number(speed.value).toFixed(2).replace(/0$/, "")}×`;
  speed.setAttribute("aria-valuetext", `${speed.value}×`);
};
instruct.onkeydown = (event) => {
  if (event.key === "Enter" && !event.isComposing && !event.ctrlKey && !event.metaKey) speak();
};
voiceList.onchange = () => choose(voiceList.value);
liveSwitch.onchange = () => {
  if (liveSwitch.checked) {
    speaker.unlock();
    speaker.cancel();
    live.start();
    editor.area.focus();
    editor.area.setSelectionRange(editor.value.length, editor.value.length);
  } else live.stop();
  hint();
};
editor.area.addEventListener("input", (event) => liveSwitch.checked && live.typed(event as InputEvent));
editor.area.addEventListener("compositionend", () => liveSwitch.checked && live.typed(new InputEvent("input")));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    speak();
  } else if (event.key === "Escape" && !event.isComposing) stop();
});

/** A text that the voice can speak: in Chinese only where it speaks Chinese. */
function sample(): string {
  return language === "zh" && choice.speaksChinese ? texts.sample : LANGUAGES.en.sample;
}

/** Put the sample where nothing else stands. */
function offer(): void {
  const texts = Object.values(LANGUAGES).map((each) => each.sample);
  if (["", ...texts].includes(editor.value) && editor.value !== sample()) editor.value = sample();
}

relabel();
editor.value = query.get("text") ?? "";
speaker.connect();
offer();
await loadVoices();
if (query.has("speak")) speak();
