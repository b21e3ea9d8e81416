/** What waits for a signal, by signal: a weak map, so that nothing outlives its run. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal fires, unless disposed of before. However many wait for one signal, it gets one listener:
 * a run has hundreds of waits under way at once, and Node takes that many listeners for a leak.
 *
 * @returns what ends the waiting; the caller disposes of it.
 */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  const known = waiting.get(signal);
  const callbacks = known ?? new Set();
  callbacks.add(callback);
  if (known === undefined) {
    waiting.set(signal, callbacks);
    const fire = () => {
      for (const call of callbacks) call();
    };
    signal.addEventListener("abort", fire, { once: true });
  }
  return { [Symbol.dispose]: () => callbacks.delete(callback) };
}
