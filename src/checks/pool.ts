/** Resolves when everything else that runs together with the caller has ended, or waits in the same way. */
export type AfterOthers = () => Promise<void>;

/**
 * Works through a list with so many at once, which may change on the way, in order of the list. Work that waits for the others lets the next begin in its place, and goes
 * on when nothing else is left, one piece after the other.
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
      work(item, afterOthers).then(() => {
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
