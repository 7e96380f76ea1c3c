/**
 * A take from the microphone: the countdown, the meter, the seconds, and when it is enough.
 *
 * Knows: what is shown and said while it runs. Does not know: what becomes of the recording.
 */

import { CosystreamError, Recorder, type Recording } from "./sdk/index.js";
import { fill, type Texts } from "./texts.js";

export const LEAST_SECONDS = 3;
const COUNTDOWN = 3;
const SECOND_MS = 1000;
/** Peaks beyond which a recording is told to be too quiet or too loud. */
const QUIET = 0.03;
const LOUD = 0.999;

export interface TakeView {
  button: HTMLButtonElement;
  cancel: HTMLButtonElement;
  meter: HTMLElement;
  elapsed: HTMLElement;
  /** Another way to a recording, not offered meanwhile. */
  other: HTMLElement;
  said: HTMLElement;
}

export class Take {
  readonly #recorder = new Recorder();
  #state: "idle" | "counting" | "recording" = "idle";
  #lost = false;
  /** Of countdowns: one that was cancelled does not go on. */
  #attempt = 0;

  constructor(
    private readonly view: TakeView,
    private readonly texts: () => Texts,
    private readonly events: { began(): void; done(recording: Recording): void; failed(error: CosystreamError): void },
  ) {
    this.#recorder.on("level", ({ peak, seconds }) => this.#show(peak, seconds));
    this.#recorder.on("ended", ({ why }) => {
      this.#lost = why === "lost";
      void this.#finish();
    });
    view.button.onclick = () => this.#pressed();
    view.cancel.onclick = () => this.cancel();
    this.label();
  }

  get running(): boolean {
    return this.#state !== "idle";
  }

  /** Put the labels on again, in the reader's language. */
  label(again = false): void {
    const texts = this.texts();
    const { button, cancel, meter, elapsed, other } = this.view;
    const running = this.running;
    (button.querySelector("span") as HTMLElement).textContent = running ? texts.recordStop : again ? texts.recordAgain : texts.record;
    button.classList.toggle("recording", running);
    cancel.hidden = !running;
    meter.hidden = !running;
    elapsed.hidden = !running;
    other.hidden = running;
  }

  cancel(): void {
    this.#attempt += 1;
    this.#recorder.cancel();
    this.#become("idle");
    this.view.said.textContent = "";
    this.view.button.focus();
  }

  #pressed(): void {
    if (this.#state === "idle") void this.#start();
    else if (this.#state === "counting") this.cancel();
    else if (this.#recorder.seconds >= LEAST_SECONDS) void this.#finish();
    else this.#say(fill(this.texts().recordMore, { n: LEAST_SECONDS }));
  }

  /** The microphone is asked for first: its permission is not to eat up the countdown. */
  async #start(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#lost = false;
    this.events.began();
    this.#become("counting");
    this.#show(0, 0);
    try {
      await this.#recorder.start();
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#become("idle");
      return this.events.failed(error as CosystreamError);
    }
    for (let n = COUNTDOWN; n > 0; n -= 1) {
      if (attempt !== this.#attempt) return;
      this.#say(fill(this.texts().countdown, { n }));
      await new Promise((resolve) => setTimeout(resolve, SECOND_MS));
    }
    if (attempt !== this.#attempt) return;
    this.#recorder.restart();
    this.#become("recording");
    this.#say(this.texts().recordingNow);
  }

  async #finish(): Promise<void> {
    if (this.#state !== "recording") return this.cancel();
    const recording = await this.#recorder.stop();
    this.#become("idle", true);
    this.#say([fill(this.texts().recordedFor, { n: recording.seconds.toFixed(1) }), this.#doubt(recording)].join(" "));
    this.events.done(recording);
  }

  #doubt({ peak }: Recording): string {
    const texts = this.texts();
    if (this.#lost) return texts.microphoneLost;
    if (peak < QUIET) return texts.tooQuiet;
    return peak >= LOUD ? texts.tooLoud : "";
  }

  #become(state: "idle" | "counting" | "recording", again = false): void {
    this.#state = state;
    this.label(again);
  }

  /** The meter is in decibels, so that speech moves it: -48 dB is its left end. */
  #show(peak: number, seconds: number): void {
    const { meter, elapsed } = this.view;
    const share = peak <= 0 ? 0 : Math.max(0, Math.min(1, 1 + (20 * Math.log10(peak)) / 48));
    (meter.firstElementChild as HTMLElement).style.setProperty("inline-size", `${Math.round(100 * share)}%`);
    meter.classList.toggle("loud", peak >= LOUD);
    meter.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    elapsed.textContent = this.#state === "recording" ? `${seconds.toFixed(1)} s` : "";
  }

  #say(text: string): void {
    this.view.said.textContent = text;
  }
}
