import type { Overhead, OverheadLevel } from "../record/index.ts";

/** If a server differs from itself by more than this, its differences are not usable: 60 µs, or a tenth of its latency. */
const MARGIN_MS = 0.06;
const MARGIN_SHARE = 0.1;

/** Whether the upstream differs from itself: the whole interval of a level's median is beyond the margin. */
export function controlMessage(levels: readonly OverheadLevel[]): Pick<Overhead["control"], "fit" | "message"> {
  if (levels.length === 0) return { fit: false, message: "The control is missing." };
  const odd = levels.filter(differs);
  if (odd.length === 0) return { fit: true, message: "The upstream does not differ from itself." };
  const [first] = odd as [OverheadLevel];
  const { concurrency, stream, addedMs } = first;
  return {
    fit: false,
    message: `The upstream differs from itself in ${odd.length} of ${levels.length} levels (by ${addedMs.p50.value} ms with ${concurrency} clients, ${stream ? "streaming" : "non-streaming"}): this machine is not quiet enough.`,
  };
}

function differs({ addedMs, addedTtftMs, directMs }: OverheadLevel): boolean {
  const margin = Math.max(MARGIN_MS, (directMs.p50 ?? 0) * MARGIN_SHARE);
  return [addedMs.p50, addedTtftMs?.p50].some(
    (found) => found !== undefined && ((found.low ?? 0) > margin || (found.high ?? 0) < -margin),
  );
}
