/**
 * The desk where voices are made of recordings: the form, its progress, its errors, one's own voices.
 *
 * Knows: what has to be there before it is sent, and what is said when it fails. Does not know: how
 * a recording is taken (`take`), what the page speaks with.
 */

import { asReadable, CosystreamError, type VoiceList, Voices } from "./sdk/index.js";
import * as access from "./access.js";
import { showOwn } from "./own.js";
import { Take } from "./take.js";
import { fill, LANGUAGES, type Texts } from "./texts.js";

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export interface CloningEvents {
  /** The list of voices has changed; speak with this one, if any. */
  changed(voice: string | undefined): Promise<void>;
  chosen(voice: string): void;
  /** The microphone is about to hear what the page plays. */
  recording(): void;
}

export class Cloning {
  readonly voices = new Voices({ key: access.key });
  readonly #desk = element("cloning");
  readonly #toggle = element("own");
  readonly #transcript = element<HTMLTextAreaElement>("transcript");
  readonly #name = element<HTMLInputElement>("voice-name");
  readonly #consent = element<HTMLInputElement>("consent");
  readonly #note = element<HTMLInputElement>("consent-note");
  readonly #file = element<HTMLInputElement>("audio-file");
  readonly #sound = element<HTMLAudioElement>("recording");
  readonly #said = element("cloning-said");
  readonly #recordingSaid = element("recording-said");
  readonly #warnings = element("cloning-warnings");
  readonly #problem = element("cloning-problem");
  readonly #progress = element<HTMLProgressElement>("cloning-progress");
  readonly #submit = element<HTMLButtonElement>("make-voice");
  readonly #take: Take;
  #audio: Blob | undefined;
  /** Of what is read aloud; unknown of a file. */
  #language: string | undefined;
  #known: VoiceList = { voices: [], default: "", cloning: false, options: [] };

  constructor(
    private readonly texts: () => Texts,
    private readonly events: CloningEvents,
  ) {
    const view = { button: element<HTMLButtonElement>("record"), cancel: element<HTMLButtonElement>("record-cancel") };
    const shown = { meter: element("level"), elapsed: element("elapsed"), other: element("file"), said: this.#recordingSaid };
    this.#take = new Take({ ...view, ...shown }, texts, {
      began: () => this.#began(),
      done: ({ audio }) => this.#recorded(audio),
      failed: (error) => this.#failed(error),
    });
    this.#toggle.onclick = () => this.#open(this.#toggle.getAttribute("aria-expanded") !== "true");
    this.#file.onchange = () => void this.#choose();
    element<HTMLFormElement>("cloning-form").onsubmit = (event) => {
      event.preventDefault();
      void this.#make();
    };
    this.#desk.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#take.running) return;
      event.stopPropagation();
      this.#take.cancel();
    });
  }

  /** Show what there is; nothing at all where no voices can be made. */
  show(known: VoiceList): void {
    this.#known = known;
    this.#toggle.hidden = !known.cloning;
    if (!known.cloning) this.#open(false);
    const own = known.voices.filter((voice) => voice.cloned);
    showOwn(element("own-voices"), own, this.texts(), {
      use: ({ id }) => this.events.chosen(id),
      remove: ({ id, name }) => void this.#remove(id, name),
    });
  }

  /** In the reader's language. */
  relabel(): void {
    this.#take.label(this.#audio !== undefined);
    this.show(this.#known);
  }

  #open(open: boolean): void {
    if (!open && this.#take.running) this.#take.cancel();
    this.#desk.hidden = !open;
    this.#toggle.setAttribute("aria-expanded", String(open));
    if (open) this.#desk.scrollIntoView({ block: "nearest" });
  }

  // --- the recording ------------------------------------------------------------------------

  #began(): void {
    this.#problem.hidden = true;
    this.#sound.pause();
    this.events.recording();
  }

  #recorded(audio: Blob): void {
    this.#keep(audio);
    const { pageLanguage, reading } = this.texts();
    const written = this.#transcript.value.trim();
    if (written === "" || Object.values(LANGUAGES).some((texts) => texts.reading === written)) {
      this.#transcript.value = reading;
      this.#language = pageLanguage;
    }
  }

  async #choose(): Promise<void> {
    const file = this.#file.files?.[0];
    if (file === undefined) return;
    this.#keep(await asReadable(file));
    this.#language = undefined;
    this.#recordingSaid.textContent = fill(this.texts().chosen, { name: file.name });
    if (this.#name.value === "") this.#name.value = file.name.replace(/\.[^.]*$/, "").slice(0, this.#name.maxLength);
  }

  #keep(audio: Blob): void {
    this.#audio = audio;
    this.#problem.hidden = true;
    if (this.#sound.src !== "") URL.revokeObjectURL(this.#sound.src);
    this.#sound.src = URL.createObjectURL(audio);
    this.#sound.hidden = false;
    this.#take.label(true);
  }

  // --- the form -----------------------------------------------------------------------------

  async #make(): Promise<void> {
    const audio = this.#audio;
    const texts = this.texts();
    if (audio === undefined) return this.#need(texts.needRecording, element("record"));
    if (this.#transcript.value.trim() === "") return this.#need(texts.needTranscript, this.#transcript);
    if (this.#name.value.trim() === "") return this.#need(texts.needName, this.#name);
    if (!this.#consent.checked) return this.#need(texts.needConsent, this.#consent);
    this.#busy(true);
    try {
      const made = await this.voices.create(
        {
          audio,
          transcript: this.#transcript.value,
          name: this.#name.value,
          consent: [texts.consentStated, this.#note.value.trim()].filter(Boolean).join(" "),
          language: this.#language,
        },
        { onProgress: (sent) => this.#sent(sent) },
      );
      await this.events.changed(made.id);
      this.#clear();
      this.#said.textContent = this.texts().made;
      this.#warn(made.warnings);
    } catch (error) {
      this.#failed(error as CosystreamError);
    }
    this.#busy(false);
  }

  async #remove(voice: string, name: string): Promise<void> {
    if (!confirm(fill(this.texts().confirmRemoval, { name }))) return;
    try {
      await this.voices.delete(voice);
      await this.events.changed(undefined);
      this.#said.textContent = fill(this.texts().removed, { name });
      this.#submit.focus(); // the button that was pressed is gone
    } catch (error) {
      this.#failed(error as CosystreamError);
    }
  }

  #sent(share: number): void {
    const texts = this.texts();
    const percent = Math.round(100 * share);
    if (share < 1) this.#progress.value = share;
    else this.#progress.removeAttribute("value");
    this.#said.textContent = share < 1 ? fill(texts.sending, { percent }) : texts.making;
  }

  #busy(busy: boolean): void {
    this.#submit.disabled = busy;
    this.#progress.hidden = !busy;
    if (busy) {
      this.#problem.hidden = true;
      this.#warn([]);
      this.#sent(0);
    }
  }

  #warn(warnings: string[]): void {
    this.#warnings.hidden = warnings.length === 0;
    const items = warnings.map((warning) => {
      const item = document.createElement("li");
      item.textContent = warning;
      return item;
    });
    this.#warnings.replaceChildren(...items);
  }

  #clear(): void {
    this.#audio = undefined;
    this.#recordingSaid.textContent = "";
    URL.revokeObjectURL(this.#sound.src);
    this.#sound.removeAttribute("src");
    this.#sound.hidden = true;
    element<HTMLFormElement>("cloning-form").reset();
    this.#take.label();
  }

  #need(text: string, field: HTMLElement): void {
    this.#tell(text, "");
    field.focus();
  }

  #failed(error: CosystreamError): void {
    const known = (this.texts() as unknown as Record<string, unknown>)[error.code];
    this.#said.textContent = "";
    this.#tell(typeof known === "string" ? known : this.texts().failed, error.message);
  }

  #tell(text: string, detail: string): void {
    element("cloning-problem-text").textContent = text;
    element("cloning-problem-detail").textContent = detail;
    this.#problem.hidden = false;
  }
}
