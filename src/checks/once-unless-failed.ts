import { ConfigError } from "../core/index.ts";

/**
 * What was found under a name, or is being looked up. A failed attempt is repeated, because the timing may have been bad; a
 * broken target file or hook stays broken.
 */
export function onceUnlessFailed<T>(known: Map<string, Promise<T>>, name: string, ask: () => Promise<T>): Promise<T> {
  const earlier = known.get(name);
  if (earlier !== undefined) return earlier;
  const asking = ask();
  known.set(name, asking);
  asking.catch((error: unknown) => {
    if (!(error instanceof ConfigError)) known.delete(name);
  });
  return asking;
}
