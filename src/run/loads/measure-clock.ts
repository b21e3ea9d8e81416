import { sleep, UnreachableError } from "../../core/index.ts";
import { type ClockOffset, clockOffset, type DatedResponse } from "../../engines/index.ts";

/**
 * `Date` has a resolution of one second, so we locate the moment at which it changes: a few probes per second, in ever smaller
 * windows.
 */
const SECOND_MS = 1_000;
const ROUNDS = 3;
const LOOKS = 4;
/** Sufficient precision, ms. */
const ENOUGH_MS = 8;
const TIMEOUT_MS = 5_000;

/** Monotonic wall clock: the time at process start plus the time since then, so that it does not jump when the clock is set. */
export const wallMs = (): number => performance.timeOrigin + performance.now();

/**
 * Measures the clock of a time source against this machine's, from the `Date` headers of up to 13 HEAD requests within 4 s.
 *
 * @returns `undefined` when it sends no `Date`, or the signal fired. @throws UnreachableError when it does not respond.
 */
export async function measureClock(source: string, signal: AbortSignal): Promise<ClockOffset | undefined> {
  const responses = [await requestDate(source)];
  for (let round = 0; round < ROUNDS && !signal.aborted; round++) {
    const known = clockOffset(responses);
    if (known === undefined || known.uncertaintyMs <= ENOUGH_MS) return known;
    const { offsetMs, uncertaintyMs } = known;
    const roundTripMs = responses.at(-1)?.firstByteMs ?? 0;
    // The source's next second begins within this window of this machine's clock.
    const second = Math.ceil((wallMs() + offsetMs + uncertaintyMs) / SECOND_MS) * SECOND_MS;
    const windowMs = second - offsetMs - uncertaintyMs;
    for (let look = 1; look <= LOOKS; look++) {
      const atMs = windowMs + (2 * uncertaintyMs * look) / (LOOKS + 1) - roundTripMs / 2;
      if (!(await sleep(Math.max(0, atMs - wallMs()), signal))) return clockOffset(responses);
      responses.push(await requestDate(source));
    }
  }
  return clockOffset(responses);
}

async function requestDate(source: string): Promise<DatedResponse> {
  const sentMs = wallMs();
  try {
    const response = await fetch(source, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const firstByteMs = wallMs() - sentMs;
    const date = Date.parse(response.headers.get("date") ?? "");
    return { status: response.status, wallMs: sentMs, firstByteMs, dateMs: Number.isNaN(date) ? undefined : date };
  } catch (error) {
    throw new UnreachableError(`the time source ${source} does not respond, so the clock cannot be measured`, {
      hint: "Name a server that is reached from here with --time-source URL.",
      cause: error,
    });
  }
}
