import type { Response } from "../../src/checks/index.ts";
import { isServed } from "./burst.ts";

/**
 * Whether an answer's fate was decided while every held stream was surely running: sent when the last of them had
 * begun, and answered before the first of them ended. Anything else may have found a free slot.
 */
export function whileFull(answer: Response, held: readonly Response[]): boolean {
  const { sentUs = 0, headersUs, endUs } = answer.exchange.timeline;
  const { fromUs, toUs } = fullSpan(held);
  return sentUs >= fromUs && (headersUs ?? endUs) < toUs;
}

/** From the moment at which the last of the held streams had surely begun to that at which the first had ended. */
function fullSpan(held: readonly Response[]): { readonly fromUs: number; readonly toUs: number } {
  return {
    fromUs: Math.max(...held.map(({ exchange }) => exchange.response?.body.pieces[0]?.[0] ?? 0)),
    toUs: Math.min(...held.map(({ exchange }) => exchange.timeline.endUs)),
  };
}

/** Served although every slot was surely held. */
export function servedWhileHeld(answers: readonly Response[], held: readonly Response[]): Response | undefined {
  return answers.find((answer) => isServed(answer) && whileFull(answer, held));
}

/** A gateway may take so long to deny, µs; who is kept waiting longer stands in a queue. */
const PATIENCE_US = 1_000_000;

/** Sent while every slot was surely held, long before the first came free, and served when it had. */
export function queuedWhileHeld(answers: readonly Response[], held: readonly Response[]): Response | undefined {
  const { fromUs, toUs } = fullSpan(held);
  return answers.find((answer) => {
    const { sentUs = 0, headersUs, endUs } = answer.exchange.timeline;
    return isServed(answer) && sentUs >= fromUs && sentUs < toUs - PATIENCE_US && (headersUs ?? endUs) >= toUs;
  });
}
