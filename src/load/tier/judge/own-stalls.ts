import { processorTimes } from "../../../core/index.ts";
import { nowUs } from "../../../http/load-client/index.ts";
import type { Stretch } from "../../../limits/index.ts";

/** Interval of the timer, ms; the delay from which it counts as late, ms; and the delay from which it counts as a stall, ms. */
const EVERY_MS = 25;
const LATE_MS = 10;
const STALL_MS = 75;

/** Sampling interval of the machine's load, ms, and the share of processors in use from which it counts as busy. */
const LOOK_EVERY_MS = 250;
const BUSY_SHARE = 0.92;

/**
 * Records when this process was late or stalled, and when the whole machine was busy: the gateway need not be the cause of a
 * stall at that time. A gateway that keeps one processor busy leaves the others idle.
 */
export class OwnStalls implements Disposable {
  /** When this process was stalled. */
  readonly stalledSpans: Stretch[] = [];
  /** All delays of the timer, including those shorter than a stall; in order, without overlaps. */
  readonly late: Stretch[] = [];
  /** When the whole machine was busy. */
  readonly busy: Stretch[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #looker: NodeJS.Timeout;
  #lastUs = nowUs();
  #lookedUs = nowUs();
  #times = processorTimes();

  constructor() {
    this.#timer = setInterval(() => {
      const now = nowUs();
      const dueUs = this.#lastUs + EVERY_MS * 1_000;
      if (now - dueUs > LATE_MS * 1_000) this.late.push([dueUs, now]);
      if (now - this.#lastUs > (EVERY_MS + STALL_MS) * 1_000) this.stalledSpans.push([this.#lastUs, now]);
      this.#lastUs = now;
    }, EVERY_MS);
    this.#timer.unref();
    this.#looker = setInterval(() => {
      const now = nowUs();
      const times = processorTimes();
      const all = times.all - this.#times.all;
      if (all > 0 && (times.busy - this.#times.busy) / all > BUSY_SHARE) this.busy.push([this.#lookedUs, now]);
      this.#lookedUs = now;
      this.#times = times;
    }, LOOK_EVERY_MS);
    this.#looker.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    clearInterval(this.#looker);
  }
}

/** What took time from this process and from a gateway on the same machine. */
export type StallRecord = Pick<OwnStalls, "stalledSpans" | "late" | "busy">;

/** For an engine that does not report its own stalls. */
export const NO_STALLS: StallRecord = { stalledSpans: [], late: [], busy: [] };

/** Total overlap of a span with some ranges, µs. @param stretches in order, without overlaps. */
export function overlapUs(fromUs: number, toUs: number, stretches: readonly Stretch[]): number {
  let sum = 0;
  for (let index = firstEndingAfter(fromUs, stretches); index < stretches.length; index++) {
    const [from, to] = stretches[index] as Stretch;
    if (from >= toUs) break;
    sum += Math.max(0, Math.min(to, toUs) - Math.max(from, fromUs));
  }
  return sum;
}

/** Index of the first range that ends after this time, by binary search: a run has thousands of ranges and of requests. */
function firstEndingAfter(us: number, stretches: readonly Stretch[]): number {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stretches[middle] as Stretch)[1] <= us) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * How much this process added to the time of a request, ms: its measured delay between the send and the end. A busy machine counts only as
 * far as it delayed this process, because the gateway may have been slow as well.
 */
export function lagMs(
  { sentUs, endUs }: { readonly sentUs: number; readonly endUs: number },
  { late }: StallRecord,
): number {
  return overlapUs(sentUs, endUs, late) / 1_000;
}
