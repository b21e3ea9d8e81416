/** Resolves when every other item has ended or is waiting for the others, too. */
export type AfterOthers = () => Promise<void>;

/**
 * Processes a list in order, with as many items at once as `parallel` returns at that moment. An item that waits for the others
 * lets the next one start in its place, and resumes when nothing else is left, one item at a time.
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
      // A resumed item runs alone until it ends: it never waits twice.
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
