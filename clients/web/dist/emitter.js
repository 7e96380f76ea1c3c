/** Typed events: `on` returns the function that takes the listener away again. */
export class Emitter {
    #listeners = new Map();
    on(event, listener) {
        const listeners = this.#listeners.get(event) ?? new Set();
        this.#listeners.set(event, listeners);
        listeners.add(listener);
        return () => void listeners.delete(listener);
    }
    /** Tell every listener; one that throws is reported as uncaught and keeps none from the others. */
    emit(event, payload) {
        for (const listener of [...(this.#listeners.get(event) ?? [])]) {
            try {
                listener(payload);
            }
            catch (error) {
                queueMicrotask(() => {
                    throw error;
                });
            }
        }
    }
}
