/** The voices that the server has and one's own, in the page's list of them. */
const LOADING_MS = 1000;
/** The list, once the server has loaded its model; `waiting` is called while it does. */
export async function list(voices, waiting) {
    for (;;) {
        try {
            return await voices.list();
        }
        catch (error) {
            if (error.code !== "engine_loading")
                throw error;
        }
        waiting();
        await new Promise((resolve) => setTimeout(resolve, LOADING_MS));
    }
}
/** The names of the languages that a voice speaks. */
export function languagesOf(known, id, texts) {
    const names = new Intl.DisplayNames([texts.pageLanguage], { type: "language" });
    const tags = known.voices.find((voice) => voice.id === id)?.languages ?? [];
    const named = (tag) => (tag === "*" ? texts.anyLanguage : (texts.languages[tag] ?? names.of(tag) ?? tag));
    return tags.map(named).join(texts.pageLanguage === "en" ? ", " : "、");
}
/** What the server tells of a voice, which it does in English. */
export function about(known, id, texts) {
    const description = known.voices.find((voice) => voice.id === id)?.description ?? "";
    return texts.pageLanguage === "en" && description !== "" ? `${description}. ` : "";
}
/** A voice's languages stand beside its name as long as they say what sets it apart. */
const FEW = 2;
export function show(list, known, wanted, texts) {
    const { voices, default: first } = known;
    const own = voices.filter(({ cloned }) => cloned);
    const theirs = voices.filter(({ cloned }) => !cloned);
    const option = (voice) => new Option(label(voice, voice.id === first, texts), voice.id);
    const kept = list.value || wanted;
    if (own.length === 0)
        list.replaceChildren(...theirs.map(option));
    else
        list.replaceChildren(group(texts.ownVoices, own.map(option)), group(texts.serverVoices, theirs.map(option)));
    list.disabled = voices.length === 0;
    list.value = voices.some(({ id }) => id === kept) ? kept : first;
}
function label({ name, languages }, first, texts) {
    const names = new Intl.DisplayNames([texts.pageLanguage], { type: "language" });
    const spoken = languages.filter((tag) => tag !== "*").map((tag) => names.of(tag) ?? tag);
    const about = [...(spoken.length <= FEW ? spoken : []), ...(first ? [texts.defaultVoice] : [])];
    return about.length === 0 ? name : `${name} (${about.join(", ")})`;
}
function group(name, options) {
    const made = document.createElement("optgroup");
    made.label = name;
    made.append(...options);
    return made;
}
