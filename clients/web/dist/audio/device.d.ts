/**
 * The AudioContext and its moods: locked until a click, interrupted by a phone call, stopped by a
 * device that went away. Knows nothing of what is played.
 */
export interface DeviceEvents {
    /** Sound waits for a click (or waits no more). */
    blocked(blocked: boolean): void;
    /** The context is of no more use; a new one has taken its place. */
    replaced(): void;
}
export declare class Device {
    #private;
    private readonly events;
    constructor(events: DeviceEvents);
    get context(): AudioContext | undefined;
    get blocked(): boolean;
    get running(): boolean;
    /** Call inside a click: makes the context or wakes it, synchronously. */
    unlock(): AudioContext;
    /** Whether there is sound to be heard: only then can it be blocked, or stalled. */
    want(wanted: boolean): void;
    /** The moment, on the context's clock in seconds, that is leaving the loudspeaker now. */
    heardTime(): number;
    close(): void;
}
