/**
 * Speaking what is being typed: what stands at the end of the text goes out word by word.
 *
 * A word that is still being typed is held back for a moment, so that it can be put right. What has
 * been sent cannot be unsaid: once it is changed, only what comes after the change is spoken.
 */
const HOLD_MS = 500;
const MAX_DELAY_MS = 600;
/** A word ends here: white space, punctuation, or a script that has no spaces. */
const BOUNDARY = /[\s\p{P}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
export class Live {
    speaker;
    editor;
    open;
    /** Of the text: what has been sent or was there before. */
    #sent = "";
    #base = 0;
    #utterance;
    #hold;
    constructor(speaker, editor, open) {
        this.speaker = speaker;
        this.editor = editor;
        this.open = open;
    }
    /** Where an utterance of this mode begins in the text. */
    base(utterance) {
        return utterance === this.#utterance ? this.#base : undefined;
    }
    start() {
        this.#sent = this.editor.value;
        this.speaker.connect();
    }
    stop() {
        clearTimeout(this.#hold);
        this.#send(this.editor.value.length);
        this.#utterance?.end();
    }
    /** The text has changed. */
    typed(event) {
        if (event.isComposing)
            return;
        clearTimeout(this.#hold);
        const { value } = this.editor;
        if (!value.startsWith(this.#sent)) {
            this.#utterance?.end();
            this.#utterance = undefined;
            this.#sent = value;
            return;
        }
        this.#send(boundary(value));
        this.#hold = setTimeout(() => this.#send(this.editor.value.length), HOLD_MS);
        if (event.inputType === "insertLineBreak")
            this.#utterance?.flush();
    }
    /** Speak what has been typed, now. */
    flush() {
        this.#send(this.editor.value.length);
        this.#utterance?.flush();
    }
    #send(until) {
        const { value } = this.editor;
        if (until <= this.#sent.length || !value.startsWith(this.#sent))
            return;
        if (this.#utterance?.active !== true) {
            this.#base = this.#sent.length;
            this.#utterance = this.open();
        }
        this.#utterance.write(value.slice(this.#sent.length, until));
        this.#sent = value.slice(0, until);
    }
}
export const LIVE_OPTIONS = { maxDelayMs: MAX_DELAY_MS };
/** Where the last whole word ends. */
function boundary(text) {
    for (let i = text.length; i > 0; i -= 1)
        if (BOUNDARY.test(text[i - 1]))
            return i;
    return 0;
}
