/**
 * The two ways to the loudspeaker, behind one face: an AudioWorklet, or (on insecure origins,
 * where there is none) the same ring rendered ahead into AudioBufferSourceNodes.
 */
import { type FromRing, type ToRing } from "./worklet.js";
export interface Backend {
    readonly kind: "worklet" | "buffer";
    readonly node: AudioNode;
    send(message: ToRing): void;
    close(): void;
}
type Tell = (message: FromRing) => void;
/** Throws where the module cannot be loaded. */
export declare function workletBackend(context: AudioContext, url: string | URL, tell: Tell): Promise<Backend>;
export declare class BufferBackend implements Backend {
    #private;
    private readonly context;
    private readonly tell;
    readonly kind = "buffer";
    readonly node: GainNode;
    constructor(context: AudioContext, tell: Tell);
    send(message: ToRing): void;
    close(): void;
}
export {};
