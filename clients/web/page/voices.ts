/** The voices that the server has, in the page's list of them. */

import type { VoiceList } from "./sdk/index.js";

export function show(list: HTMLSelectElement, { voices, default: first }: VoiceList, wanted: string | null): void {
  const names = new Intl.DisplayNames([document.documentElement.lang], { type: "language" });
  const options = voices.map(({ id, name, languages }) => {
    const spoken = languages.filter((tag) => tag !== "*").map((tag) => names.of(tag) ?? tag).join(", ");
    return new Option(spoken === "" ? name : `${name} (${spoken})`, id);
  });
  const kept = list.value || wanted;
  list.replaceChildren(...options);
  list.disabled = voices.length === 0;
  list.value = voices.some(({ id }) => id === kept) ? (kept as string) : first;
}
