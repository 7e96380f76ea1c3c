/**
 * The desk where voices are made of recordings: the form, its progress, its errors, one's own voices.
 *
 * Knows: what has to be there before it is sent, and what is said when it fails. Does not know: how
 * a recording is taken (`take`), what the page speaks with.
 */
import { asReadable, CosystreamError, Voices } from "./sdk/index.js";
import * as access from "./access.js";
import { showOwn } from "./own.js";
import { Take } from "./take.js";
import { fill, LANGUAGES } from "./texts.js";
function element(id) {
    return document.getElementById(id);
}
export class Cloning {
    texts;
    events;
    voices = new Voices({ key: access.key });
    #desk = element("cloning");
    #toggle = element("own");
    #transcript = element("transcript");
    #name = element("voice-name");
    #consent = element("consent");
    #note = element("consent-note");
    #file = element("audio-file");
    #sound = element("recording");
    #said = element("cloning-said");
    #recordingSaid = element("recording-said");
    #warnings = element("cloning-warnings");
    #problem = element("cloning-problem");
    #progress = element("cloning-progress");
    #submit = element("make-voice");
    #take;
    #audio;
    /** Of what is read aloud; unknown of a file. */
    #language;
    #known = { voices: [], default: "", cloning: false, options: [] };
    constructor(texts, events) {
        this.texts = texts;
        this.events = events;
        const view = { button: element("record"), cancel: element("record-cancel") };
        const shown = { meter: element("level"), elapsed: element("elapsed"), other: element("file"), said: this.#recordingSaid };
        this.#take = new Take({ ...view, ...shown }, texts, {
            began: () => this.#began(),
            done: ({ audio }) => this.#recorded(audio),
            failed: (error) => this.#failed(error),
        });
        this.#toggle.onclick = () => this.#open(this.#toggle.getAttribute("aria-expanded") !== "true");
        this.#file.onchange = () => void this.#choose();
        element("cloning-form").onsubmit = (event) => {
            event.preventDefault();
            void this.#make();
        };
        this.#desk.addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || !this.#take.running)
                return;
            event.stopPropagation();
            this.#take.cancel();
        });
    }
    /** Show what there is; nothing at all where no voices can be made. */
    show(known) {
        this.#known = known;
        this.#toggle.hidden = !known.cloning;
        if (!known.cloning)
            this.#open(false);
        const own = known.voices.filter((voice) => voice.cloned);
        showOwn(element("own-voices"), own, this.texts(), {
            use: ({ id }) => this.events.chosen(id),
            remove: ({ id, name }) => void this.#remove(id, name),
        });
    }
    /** In the reader's language. */
    relabel() {
        this.#take.label(this.#audio !== undefined);
        this.show(this.#known);
    }
    #open(open) {
        if (!open && this.#take.running)
            this.#take.cancel();
        this.#desk.hidden = !open;
        this.#toggle.setAttribute("aria-expanded", String(open));
        if (open)
            this.#desk.scrollIntoView({ block: "nearest" });
    }
    // --- the recording ------------------------------------------------------------------------
    #began() {
        this.#problem.hidden = true;
        this.#sound.pause();
        this.events.recording();
    }
    #recorded(audio) {
        this.#keep(audio);
        const { pageLanguage, reading } = this.texts();
        const written = this.#transcript.value.trim();
        if (written === "" || Object.values(LANGUAGES).some((texts) => texts.reading === written)) {
            this.#transcript.value = reading;
            this.#language = pageLanguage;
        }
    }
    async #choose() {
        const file = this.#file.files?.[0];
        if (file === undefined)
            return;
        this.#keep(await asReadable(file));
        this.#language = undefined;
        this.#recordingSaid.textContent = fill(this.texts().chosen, { name: file.name });
        if (this.#name.value === "")
            this.#name.value = file.name.replace(/\.[^.]*$/, "").slice(0, this.#name.maxLength);
    }
    #keep(audio) {
        this.#audio = audio;
        this.#problem.hidden = true;
        if (this.#sound.src !== "")
            URL.revokeObjectURL(this.#sound.src);
        this.#sound.src = URL.createObjectURL(audio);
        this.#sound.hidden = false;
        this.#take.label(true);
    }
    // --- the form -----------------------------------------------------------------------------
    async #make() {
        const audio = this.#audio;
        const texts = this.texts();
        if (audio === undefined)
            return this.#need(texts.needRecording, element("record"));
        if (this.#transcript.value.trim() === "")
            return this.#need(texts.needTranscript, this.#transcript);
        if (this.#name.value.trim() === "")
            return this.#need(texts.needName, this.#name);
        if (!this.#consent.checked)
            return this.#need(texts.needConsent, this.#consent);
        this.#busy(true);
        try {
            const made = await this.voices.create({
                audio,
                transcript: this.#transcript.value,
                name: this.#name.value,
                consent: [texts.consentStated, this.#note.value.trim()].filter(Boolean).join(" "),
                language: this.#language,
            }, { onProgress: (sent) => this.#sent(sent) });
            await this.events.changed(made.id);
            this.#clear();
            this.#said.textContent = this.texts().made;
            this.#warn(made.warnings);
        }
        catch (error) {
            this.#failed(error);
        }
        this.#busy(false);
    }
    async #remove(voice, name) {
        if (!confirm(fill(this.texts().confirmRemoval, { name })))
            return;
        try {
            await this.voices.delete(voice);
            await this.events.changed(undefined);
            this.#said.textContent = fill(this.texts().removed, { name });
            this.#submit.focus(); // the button that was pressed is gone
        }
        catch (error) {
            this.#failed(error);
        }
    }
    #sent(share) {
        const texts = this.texts();
        const percent = Math.round(100 * share);
        if (share < 1)
            this.#progress.value = share;
        else
            this.#progress.removeAttribute("value");
        this.#said.textContent = share < 1 ? fill(texts.sending, { percent }) : texts.making;
    }
    #busy(busy) {
        this.#submit.disabled = busy;
        this.#progress.hidden = !busy;
        if (busy) {
            this.#problem.hidden = true;
            this.#warn([]);
            this.#sent(0);
        }
    }
    #warn(warnings) {
        this.#warnings.hidden = warnings.length === 0;
        const items = warnings.map((warning) => {
            const item = document.createElement("li");
            item.textContent = warning;
            return item;
        });
        this.#warnings.replaceChildren(...items);
    }
    #clear() {
        this.#audio = undefined;
        this.#recordingSaid.textContent = "";
        URL.revokeObjectURL(this.#sound.src);
        this.#sound.removeAttribute("src");
        this.#sound.hidden = true;
        element("cloning-form").reset();
        this.#take.label();
    }
    #need(text, field) {
        this.#tell(text, "");
        field.focus();
    }
    #failed(error) {
        const known = this.texts()[error.code];
        this.#said.textContent = "";
        this.#tell(typeof known === "string" ? known : this.texts().failed, error.message);
    }
    #tell(text, detail) {
        element("cloning-problem-text").textContent = text;
        element("cloning-problem-detail").textContent = detail;
        this.#problem.hidden = false;
    }
}
