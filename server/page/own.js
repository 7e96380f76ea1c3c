/** The list of the voices that were made with this key: use one, delete one. */
import { fill } from "./texts.js";
export function showOwn(list, voices, texts, events) {
    if (voices.length === 0) {
        const none = document.createElement("li");
        none.className = "note";
        none.textContent = texts.noOwnVoices;
        list.replaceChildren(none);
        return;
    }
    list.replaceChildren(...voices.map((voice) => item(voice, texts, events)));
}
function item(voice, texts, events) {
    const entry = document.createElement("li");
    const about = document.createElement("p");
    const name = document.createElement("strong");
    name.textContent = voice.name;
    name.dir = "auto";
    const detail = document.createElement("span");
    detail.className = "note";
    const date = new Date(voice.created ?? "").toLocaleDateString(texts.pageLanguage, { dateStyle: "medium" });
    detail.textContent = fill(texts.madeOn, { date, n: ((voice.duration_ms ?? 0) / 1000).toFixed(1) });
    about.append(name, detail);
    const use = button(texts.use, fill(texts.useNamed, { name: voice.name }), () => events.use(voice));
    const remove = button(texts.remove, fill(texts.removeNamed, { name: voice.name }), () => events.remove(voice));
    entry.append(about, use, remove);
    return entry;
}
function button(text, label, press) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.onclick = press;
    return made;
}
