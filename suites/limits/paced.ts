import { accountOfKey, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { WINDOW_OVER_MS } from "../../src/limits/index.ts";
import type { Key } from "../../src/target/index.ts";

/** Label of a wait for the end of a rate window, for the progress display. */
export const RATE_WINDOW_LABEL = "a rate window to end";

/** Waits until nothing that was sent on the key's account counts any more. */
export async function untilQuiet(t: Session, key: Key): Promise<void> {
  const account = accountOfKey(key);
  await t.wait(Math.max(0, WINDOW_OVER_MS - t.sent.unusedForMs(account)), `the rate window of ${account}`);
}

/** Spreads `perMinute` requests evenly over one minute, after a quiet minute. */
export async function paced(t: Session, specs: readonly RequestSpec[], perMinute: number): Promise<Response[]> {
  await t.wait(WINDOW_OVER_MS, RATE_WINDOW_LABEL);
  const count = Math.max(1, Math.floor(perMinute));
  const startUs = t.nowUs();
  const sent: Promise<Response>[] = [];
  for (let index = 0; index < count; index++) {
    await t.wait(Math.max(0, (index * 60_000) / count - (t.nowUs() - startUs) / 1_000));
    sent.push(t.start({ ...specs[index % specs.length], intent: "any" }).done);
  }
  return Promise.all(sent);
}
