import type { Added, OverheadLevel } from "../record/index.ts";

/** A delayed acknowledgement arrives after 40 ms on Linux; what is sent after it adds a little. */
const DELAYED_ACK_MS = { least: 38, most: 47 } as const;
/** If another kind of request at the same gateway is delayed by less than this, the gateway is not just slow. */
const NOT_DELAYED_MS = 10;
/** A stream is buffered if its first token arrives this late in it through the gateway, and this early directly. */
const HELD_BACK_SHARE = 0.8;
const FLOWING_SHARE = 0.5;
/** Minimum duration of a stream for distinguishing early from late. */
const MIN_STREAM_MS = 20;
/** Smaller growth is ignored, milliseconds per megabyte. */
const MIN_GROWTH = 1;
/** Events are merged if a read has more than this many times the events of a direct read. */
const MERGED = 3;

/** What the figures of a gateway prove besides its latency. Figures that are bounded by the upstream prove nothing. */
export function diagnose(levels: readonly OverheadLevel[]): string[] {
  const own = levels.filter(({ upstreamBound }) => !upstreamBound);
  return [...delayedAck(own), ...heldBack(own), ...merged(own), ...growth(own)];
}

/**
 * An operating-system delay is the same for all requests, so the whole interval must be within the range; that of a queue is
 * wider. Delayed are responses or first tokens: a gap between tokens is always short.
 */
function delayedAck(levels: readonly OverheadLevel[]): string[] {
  const whole = levels.flatMap(({ addedMs, addedTtftMs }) => [addedMs.p50, ...(addedTtftMs ? [addedTtftMs.p50] : [])]);
  const gaps = levels.flatMap(({ addedGapMs }) => addedGapMs?.p50 ?? []);
  const late = [...whole, ...gaps].find(
    ({ low, high }) => low !== null && high !== null && low >= DELAYED_ACK_MS.least && high <= DELAYED_ACK_MS.most,
  );
  if (late === undefined || !whole.some(({ high }) => high !== null && high < NOT_DELAYED_MS)) return [];
  return [
    `Some responses arrive ${late.value?.toFixed(1)} ms later and others do not: typical of Nagle's algorithm with delayed acknowledgements (TCP_NODELAY is not set).`,
  ];
}

function heldBack(levels: readonly OverheadLevel[]): string[] {
  const streams = levels.filter(({ stream, ttftMs, directMs, throughMs }) => {
    if (!stream || ttftMs === null || (directMs.p50 ?? 0) < MIN_STREAM_MS) return false;
    const isLate = (ttftMs.through ?? 0) >= HELD_BACK_SHARE * (throughMs.p50 ?? Number.POSITIVE_INFINITY);
    return isLate && (ttftMs.direct ?? Number.POSITIVE_INFINITY) <= FLOWING_SHARE * (directMs.p50 ?? 0);
  });
  return streams.length === 0 ? [] : ["Streams are buffered: the first token arrives only when the stream ends."];
}

function merged(levels: readonly OverheadLevel[]): string[] {
  const worst = levels
    .flatMap(({ eventsPerRead }) => eventsPerRead ?? [])
    .filter(({ direct, through }) => through > MERGED * direct)
    .sort((a, b) => b.through - a.through)[0];
  if (worst === undefined) return [];
  return [`Events of streams are merged: ${worst.through} arrive in one read, directly ${worst.direct}.`];
}

/** Between the smallest and the largest prompt, for the same number of clients. */
function growth(levels: readonly OverheadLevel[]): string[] {
  const plain = levels.filter(({ stream }) => !stream).sort((a, b) => a.promptBytes - b.promptBytes);
  const largest = plain.at(-1);
  const smallest = plain.find(({ concurrency }) => concurrency === largest?.concurrency);
  if (largest === undefined || smallest === undefined || largest.promptBytes === smallest.promptBytes) return [];
  const { low } = largest.addedMs.p50;
  const { high } = smallest.addedMs.p50;
  const megabytes = (largest.promptBytes - smallest.promptBytes) / 1_000_000;
  const grows = p50(largest.addedMs) - p50(smallest.addedMs);
  if (low === null || high === null || low <= high || grows / megabytes < MIN_GROWTH) return [];
  return [`It adds ${(grows / megabytes).toFixed(1)} ms per megabyte of the prompt.`];
}

const p50 = ({ p50: { value } }: Added): number => value ?? Number.NaN;
