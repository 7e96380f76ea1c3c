/**
 * The AudioContext and its moods: locked until a click, interrupted by a phone call, stopped by a
 * device that went away. Knows nothing of what is played.
 */
const GRACE_MS = 200;
const WATCH_MS = 1000;
const WAKING = ["pointerdown", "click", "keydown", "touchend", "visibilitychange", "focus", "pageshow"];
export class Device {
    events;
    #context;
    #blocked = false;
    #wanted = false;
    #clock = -1;
    #watch;
    #wake = () => void this.#resume();
    #moved = () => this.#changed();
    constructor(events) {
        this.events = events;
    }
    get context() {
        return this.#context;
    }
    get blocked() {
        return this.#blocked;
    }
    get running() {
        return this.#context?.state === "running";
    }
    /** Call inside a click: makes the context or wakes it, synchronously. */
    unlock() {
        const context = this.#usable();
        if (context.state !== "running")
            void this.#resume();
        return context;
    }
    /** Whether there is sound to be heard: only then can it be blocked, or stalled. */
    want(wanted) {
        if (wanted === this.#wanted)
            return;
        this.#wanted = wanted;
        clearInterval(this.#watch);
        if (wanted) {
            this.#clock = -1;
            this.#watch = setInterval(() => this.#look(), WATCH_MS);
            setTimeout(() => this.#changed(), GRACE_MS);
        }
        else
            this.#changed();
    }
    /** The moment, on the context's clock in seconds, that is leaving the loudspeaker now. */
    heardTime() {
        const context = this.#context;
        if (context === undefined)
            return 0;
        const stamp = context.getOutputTimestamp?.();
        const age = performance.now() - (stamp?.performanceTime ?? 0);
        if (stamp?.contextTime && this.running && age < WATCH_MS) {
            return Math.min(stamp.contextTime + age / 1000, context.currentTime);
        }
        return context.currentTime - (context.outputLatency || 0);
    }
    close() {
        this.want(false);
        this.#listen("removeEventListener");
        const context = this.#context;
        this.#context = undefined;
        if (context !== undefined && context.state !== "closed")
            void context.close();
    }
    #usable() {
        if (this.#context !== undefined && this.#context.state !== "closed")
            return this.#context;
        const before = this.#context;
        asPlayback();
        this.#context = new AudioContext({ latencyHint: "interactive" });
        this.#context.addEventListener("statechange", this.#moved);
        this.#context.addEventListener("error", () => setTimeout(() => this.#replace(), WATCH_MS));
        if (before === undefined)
            this.#listen("addEventListener");
        return this.#context;
    }
    #listen(how) {
        for (const type of WAKING)
            globalThis[how]?.(type, this.#wake, { capture: true });
        navigator.mediaDevices?.[how]("devicechange", this.#wake);
    }
    /** Where it may not sound yet the promise stays pending for long, so nobody waits for it. */
    async #resume() {
        const context = this.#context;
        if (context === undefined || context.state === "running" || context.state === "closed")
            return;
        try {
            await context.resume();
        }
        catch {
            // Refused: the state says so, and the next click asks again.
        }
        this.#changed();
    }
    #changed() {
        if (this.#wanted && this.#context?.state === "closed")
            return this.#replace();
        const blocked = this.#wanted && this.#context !== undefined && !this.running;
        if (blocked === this.#blocked)
            return;
        this.#blocked = blocked;
        this.events.blocked(blocked);
    }
    /** A context that says it runs and whose clock stands still has lost its device. */
    #look() {
        const context = this.#context;
        if (context === undefined)
            return;
        if (this.running && context.currentTime === this.#clock)
            this.#replace();
        else if (!this.running)
            this.#changed();
        this.#clock = context.currentTime;
    }
    #replace() {
        const old = this.#context;
        old?.removeEventListener("statechange", this.#moved);
        if (old !== undefined && old.state !== "closed")
            void old.close();
        if (!this.#wanted)
            return;
        this.#clock = -1;
        if (this.#context?.state !== "closed")
            this.#context = undefined;
        this.unlock();
        this.events.replaced();
    }
}
/** On iPhones: sound in spite of the mute switch, as a player has it. */
function asPlayback() {
    const session = navigator.audioSession;
    if (session !== undefined)
        session.type = "playback";
}
