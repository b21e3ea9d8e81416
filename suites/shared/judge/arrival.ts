import type { Response } from "../../../src/checks/index.ts";

/** When the output of a stream arrived. */
export interface Arrival {
  /** One JSON document instead of a stream. */
  readonly document: boolean;
  /** From the send to the last output, ms. */
  readonly totalMs: number;
  /** From the send to the first output, ms. */
  readonly firstMs: number;
  /** From the last output to the end of the body, ms; `undefined` without output. */
  readonly tailMs: number | undefined;
  /** Pieces of output. */
  readonly pieces: number;
  /** Largest share of the output that arrived within one burst. */
  readonly burstShare: number;
}

/** Output that arrives within this time is one burst, ms: a scheduler delay must not merge two pieces paced at 50 ms. */
const BURST_MS = 30;

/** A reply that is generated faster than this says nothing about buffering, ms. */
export const LONG_ENOUGH_MS = 400;
/** Share of the output that one burst may hold. Coarse pieces are legal; everything in one burst is not incremental. */
export const MAX_IN_ONE_BURST = 0.8;
/** How long this process may be delayed before paced output can look like a burst, ms and share of the reply. */
const OWN_LAG = { ms: 60, share: 0.1 };

/** Whether a reply of some length arrived in one burst. */
export function isOneBurst({ totalMs, burstShare }: Arrival): boolean {
  return totalMs >= LONG_ENOUGH_MS && burstShare >= MAX_IN_ONE_BURST;
}

/** Whether this process kept up: pieces that arrived while it was delayed were all read together. */
export function isFairlySeen(response: Response, { totalMs }: Arrival): boolean {
  return response.exchange.ownLagMs < Math.max(OWN_LAG.ms, totalMs * OWN_LAG.share);
}

/** Determines when output arrived: by pieces of text if their location is known, otherwise by bytes. */
export function arrivalOf(response: Response): Arrival {
  const { sentUs, dueUs, endUs } = response.exchange.timeline;
  const startUs = sentUs ?? dueUs;
  const { stream, streamed } = response;
  const atUs = arrivalByOffset(response);
  const known = stream.pieces.length > 0;
  const pieces = known
    ? stream.pieces.map(({ text, end }) => ({ size: text.length, atUs: atUs(end) }))
    : (response.exchange.response?.body.pieces ?? []).map(([at, size]) => ({ size, atUs: at }));
  const first = pieces[0]?.atUs ?? endUs;
  const last = pieces.at(-1)?.atUs ?? endUs;
  return {
    document: !streamed && response.json !== undefined,
    totalMs: (last - startUs) / 1_000,
    firstMs: (first - startUs) / 1_000,
    tailMs: pieces.length === 0 ? undefined : (endUs - last) / 1_000,
    pieces: pieces.length,
    burstShare: largestBurst(pieces),
  };
}

/** Arrival of the network read that contained the byte before an offset. */
function arrivalByOffset(response: Response): (offset: number) => number {
  const reads = response.exchange.response?.body.pieces ?? [];
  const ends: number[] = [];
  let total = 0;
  for (const [, bytes] of reads) {
    total += bytes;
    ends.push(total);
  }
  return (offset) => {
    const index = ends.findIndex((end) => end >= offset);
    return reads[index === -1 ? reads.length - 1 : index]?.[0] ?? response.exchange.timeline.endUs;
  };
}

function largestBurst(pieces: readonly { readonly size: number; readonly atUs: number }[]): number {
  const total = pieces.reduce((sum, { size }) => sum + size, 0);
  if (total === 0) return 0;
  let largest = 0;
  let inBurst = 0;
  let from = 0;
  for (const { size, atUs } of pieces) {
    inBurst += size;
    while ((pieces[from]?.atUs ?? atUs) < atUs - BURST_MS * 1_000) {
      inBurst -= pieces[from]?.size ?? 0;
      from++;
    }
    largest = Math.max(largest, inBurst);
  }
  return largest / total;
}
