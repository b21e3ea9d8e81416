import type { Response } from "../../src/checks/index.ts";

/** Share of the text at which a reply still counts as one of its length: tokens and characters do not keep step. */
const WHOLE = 0.9;
/** By how much the share of tokens may exceed the share of characters. */
const SLACK = 1.25;
const PROMPT = ["prompt_tokens", "input_tokens"];
const COMPLETION = ["completion_tokens", "output_tokens"];

/**
 * Whether a reply that repeats only a part of a text is all that the model said, as far as its usage tells: the gateway lost nothing of
 * it then. `unknown` without a usage, as in a stream. A model may have an output limit of its own, or shorten.
 *
 * @param expected the whole prompt.
 */
export function isModelsOwnLength(answer: Response, expected: string): boolean | "unknown" {
  const textShare = (answer.replyText ?? "").length / expected.length;
  if (textShare >= WHOLE) return false;
  const { usage } = answer.reply;
  const [prompt, completion] = [PROMPT, COMPLETION].map((names) =>
    names.map((name) => usage?.[name]).find((count) => count !== undefined && count > 0),
  );
  if (prompt === undefined || completion === undefined) return "unknown";
  return completion / prompt <= textShare * SLACK;
}
