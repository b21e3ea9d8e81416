/** Callbacks by signal; a weak map, so that nothing outlives its run. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal fires, unless disposed of before. Each signal gets only one listener: a run has hundreds of
 * concurrent waits, and Node reports that many listeners as a leak.
 *
 * @returns ends the wait; the caller disposes of it.
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
