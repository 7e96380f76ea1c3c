/**
 * Which of the server's voices is chosen in the page's list, and what it can do.
 *
 * Knows: the list. Does not know: how voices come to be in it, what is spoken.
 */

import type { VoiceList } from "./sdk/index.js";
import type { Texts } from "./texts.js";
import { about, languagesOf, show } from "./voices.js";

export class Choice {
  #known: VoiceList = { voices: [], default: "", cloning: false, options: [] };
  /** Whether a voice was chosen; where none was, the server takes one that speaks the text. */
  #named: boolean;

  constructor(
    private readonly list: HTMLSelectElement,
    private readonly wanted: string | null,
  ) {
    this.#named = wanted !== null;
  }

  /** Whether there is nothing to choose from, as while the server loads its model. */
  get empty(): boolean {
    return this.#known.voices.length === 0;
  }

  /** What the server is asked for; nothing where it may choose. */
  get voice(): string | undefined {
    return this.#named || this.list.value !== this.#known.default ? this.list.value || undefined : undefined;
  }

  /** Whether the voices can be told how to speak. */
  get instructs(): boolean {
    return this.#known.options?.includes("instruct") ?? false; // servers of before do not say
  }

  get speaksChinese(): boolean {
    const meant = (id: string) => id === this.list.value || !this.#named;
    return this.#known.voices.some(({ id, languages }) => meant(id) && languages.includes("zh"));
  }

  /** The names of the languages that the chosen voice speaks. */
  languages(texts: Texts): string {
    return languagesOf(this.#known, this.list.value, texts);
  }

  about(texts: Texts): string {
    return about(this.#known, this.list.value, texts);
  }

  /** The server has these voices now. */
  take(known: VoiceList, texts: Texts): void {
    this.#known = known;
    const before = this.list.value;
    show(this.list, known, this.wanted, texts);
    if (before !== "" && this.list.value !== before) this.#named = false; // it is gone
  }

  relabel(texts: Texts): void {
    if (!this.empty) show(this.list, this.#known, this.wanted, texts);
  }

  choose(voice: string): void {
    this.list.value = voice;
    this.#named = true;
  }
}
