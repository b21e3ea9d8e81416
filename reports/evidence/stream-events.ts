import type { RecordedBody } from "./evidence.ts";

/** A block of an event stream and the time its last byte arrived. */
export interface TimedBlock {
  readonly text: string;
  /** Milliseconds after the request was sent; `undefined` when the arrival was not recorded. */
  readonly atMs: number | undefined;
}

/**
 * Splits a stream at blank lines and determines when each block was complete.
 *
 * It decodes nothing: the bytes are shown as received, even if they are not an event stream.
 */
export function timedBlocks(body: RecordedBody, sentUs: number): TimedBlock[] {
  const text = body.text ?? "";
  const blocks: TimedBlock[] = [];
  let from = 0;
  let bytes = 0;
  let piece = 0;
  let arrived = body.pieces[0]?.[1] ?? 0;
  const close = (to: number) => {
    const block = text.slice(from, to);
    bytes += Buffer.byteLength(block);
    from = to;
    while (piece < body.pieces.length - 1 && arrived < bytes) arrived += body.pieces[++piece]?.[1] ?? 0;
    if (block.trim() === "") return;
    const atUs = body.pieces[piece]?.[0];
    blocks.push({ text: block.trimEnd(), atMs: atUs === undefined ? undefined : (atUs - sentUs) / 1_000 });
  };
  for (const { index, 0: gap } of text.matchAll(/\r\n\r\n|\n\n|\r\r/g)) close(index + gap.length);
  if (from < text.length) close(text.length);
  return blocks;
}
