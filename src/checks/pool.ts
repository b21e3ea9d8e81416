/** Resolves when everything else that runs together with the caller has ended, or waits in the same way. */
export type AfterOthers = () => Promise<void>;

/**
 * Works through a list in its order, with as many items at once as `parallel` says at that moment. Work that waits for the others lets the
 * next item begin in its place, and continues when nothing else is left, one item after the other.
 */
export function runPool<T>(
  items: readonly T[],
  parallel: () => number,
  work: (item: T, afterOthers: AfterOthers) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const waiting: (() => void)[] = [];
  let working = 0;
  return new Promise((resolve, reject) => {
    const afterOthers = () =>
      new Promise<void>((go) => {
        waiting.push(go);
        working--;
        next();
      });
    const begin = (item: T) => {
      working++;
      let resumed: Promise<void> | undefined;
      // Work that was resumed has the place to itself until it ends: it never waits twice.
      const once = () => {
        resumed ??= afterOthers();
        return resumed;
      };
      work(item, once).then(() => {
        working--;
        next();
      }, reject);
    };
    const next = () => {
      for (let item = queue[0]; working < parallel() && item !== undefined; item = queue[0]) {
        queue.shift();
        begin(item);
      }
      if (working > 0) return;
      const resume = waiting.shift();
      if (resume === undefined) return resolve();
      working++;
      resume();
    };
    next();
  });
}
