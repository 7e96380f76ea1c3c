/** Typed events: `on` returns the function that takes the listener away again. */

export type Listener<T> = (payload: T) => void;

export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();

  on<K extends keyof Events>(event: K, listener: Listener<Events[K]>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    listeners.add(listener as Listener<never>);
    return () => void listeners.delete(listener as Listener<never>);
  }

  /** Tell every listener; one that throws is reported as uncaught and keeps none from the others. */
  protected emit<K extends keyof Events>(event: K, payload: Events[K]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        (listener as Listener<Events[K]>)(payload);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
