/** Typed events: `on` returns the function that takes the listener away again. */
export type Listener<T> = (payload: T) => void;
export declare class Emitter<Events> {
    #private;
    on<K extends keyof Events>(event: K, listener: Listener<Events[K]>): () => void;
    /** Tell every listener; one that throws is reported as uncaught and keeps none from the others. */
    protected emit<K extends keyof Events>(event: K, payload: Events[K]): void;
}
