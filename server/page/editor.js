/**
 * The text and the lights behind it: what has been said, and the word that is being said.
 *
 * The lights stand where the text stood when it was sent; once that text is changed they go out.
 */
export class Editor {
    area;
    lights;
    /** Where in the text the lit utterance begins, and its text. */
    #base = 0;
    #lit = "";
    #drawn = "";
    constructor(area, lights) {
        this.area = area;
        this.lights = lights;
        area.addEventListener("input", () => this.#grow());
        this.#grow();
    }
    get value() {
        return this.area.value;
    }
    set value(text) {
        this.area.value = text;
        this.dark();
    }
    /** Write at the end, as someone else than the reader. */
    append(text) {
        this.area.value += text;
        this.#grow();
        this.area.parentElement?.scrollTo({ top: this.area.scrollHeight });
    }
    /** Light up `[from, to)` as said and `[start, end)` as being said, of an utterance at `base`. */
    light(base, text, start, end) {
        this.#base = base;
        this.#lit = text.slice(0, end);
        if (!this.#unchanged())
            return this.dark();
        const state = `${base} ${start} ${end} ${this.value.length}`;
        if (state === this.#drawn)
            return;
        this.#drawn = state;
        const { value } = this;
        this.#draw(value.slice(0, base), value.slice(base, base + start), value.slice(base + start, base + end), value.slice(base + end));
        this.#follow();
    }
    dark() {
        this.#lit = "";
        this.#drawn = "";
        this.#draw(this.value, "", "", "");
    }
    #grow() {
        if (!this.#unchanged() || this.#lit === "")
            this.dark();
        else
            this.lights.lastChild.data = `${this.value.slice(this.#base + this.#lit.length)}\u200b`;
    }
    #unchanged() {
        return this.value.startsWith(this.#lit, this.#base);
    }
    #draw(before, said, now, after) {
        // The last line counts only if something stands in it.
        this.lights.replaceChildren(before, span("said", said), span("now", now), `${after}\u200b`);
    }
    /** Keep the word that is being said in sight, where the text is longer than its frame. */
    #follow() {
        const frame = this.lights.parentElement;
        const word = this.lights.querySelector(".now");
        if (word === null || frame.scrollHeight <= frame.clientHeight)
            return;
        const top = word.offsetTop - frame.offsetTop;
        if (top < frame.scrollTop || top > frame.scrollTop + frame.clientHeight - 48)
            frame.scrollTo({ top: top - 48 });
    }
}
function span(name, text) {
    const element = document.createElement("span");
    element.className = name;
    element.textContent = text;
    return element;
}
