/** The voices that the server has, in the page's list of them. */
import { authorization } from "./access.js";
/** Throws the HTTP status where it is not 200. */
export async function fetchVoices() {
    const response = await fetch("./v1/voices", { headers: authorization() });
    if (!response.ok)
        throw new Error(`${response.status}`);
    return (await response.json());
}
export function show(list, { voices, default: first }, wanted) {
    const names = new Intl.DisplayNames([document.documentElement.lang], { type: "language" });
    const options = voices.map(({ id, name, languages }) => {
        const spoken = languages.map((tag) => names.of(tag) ?? tag).join(", ");
        return new Option(spoken === "" ? name : `${name} (${spoken})`, id);
    });
    const kept = list.value || wanted;
    list.replaceChildren(...options);
    list.disabled = voices.length === 0;
    list.value = voices.some(({ id }) => id === kept) ? kept : first;
}
