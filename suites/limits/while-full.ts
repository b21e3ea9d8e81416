import type { Answer } from "../../src/conformance/index.ts";
import { isServed } from "./burst.ts";

/**
 * Whether an answer's fate was decided while every held stream was surely running: sent when the last of them had
 * begun, and answered before the first of them ended. Anything else may have found a free slot.
 */
export function whileFull(answer: Answer, held: readonly Answer[]): boolean {
  const { sentUs = 0, headersUs, endUs } = answer.exchange.timeline;
  const begun = Math.max(...held.map(({ exchange }) => exchange.response?.body.pieces[0]?.[0] ?? 0));
  const firstEnd = Math.min(...held.map(({ exchange }) => exchange.timeline.endUs));
  return sentUs >= begun && (headersUs ?? endUs) < firstEnd;
}

/** Served although every slot was surely held. */
export function servedWhileHeld(answers: readonly Answer[], held: readonly Answer[]): Answer | undefined {
  return answers.find((answer) => isServed(answer) && whileFull(answer, held));
}
