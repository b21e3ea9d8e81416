import { type Apply, wrap } from "../edits/wrap.ts";
import type { Answer } from "../pipeline/answer.ts";
import type { Call } from "../pipeline/behaviour.ts";

/** An answer without anything in it, to be filled or to be put a refusal in place of. */
export const NOTHING: Answer = { status: 204, headers: [], body: { kind: "none" }, afterMs: 0, outcome: "complete" };

/** Answers some requests before anything else looks at them. */
export const before = (answer: (call: Call) => Answer | undefined): Apply =>
  wrap("answer", (next) => (call) => answer(call) ?? next(call));
