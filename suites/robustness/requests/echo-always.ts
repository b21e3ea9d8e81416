import { defineInvariant, type Response } from "../../../src/checks/index.ts";
import { groupBy } from "../../../src/core/index.ts";
import type { Verdict } from "../../../src/judging/index.ts";
import { isPlain, shortPrompt } from "../../shared/requests/short-prompt.ts";

/** Share of the echo model's replies that must repeat their prompt before one that does not is an exception. */
const USUALLY = 0.8;

export const echoAlways = defineInvariant({
  id: "robustness.echo-always",
  title: "The echo model repeats its own prompt every time",
  covers: ["TEXT-INTACT"],
  explains:
    "Checks every served request of the run to the model that repeats its prompt. When nearly all replies contain their own prompt, one that does not is a wrong reply: a cached one, another caller's, or a fallback model's. When nearly all replies to the plainest request have the same text around the prompt, one with different text contains text that is not its own.",
  judge(responses, verdict) {
    judgeSurroundings(responses, verdict);
    const echoes = responses.flatMap((response) => {
      const requested = shortPrompt(response);
      const text = requested !== undefined && response.admitted ? response.replyText : undefined;
      if (requested === undefined || text === undefined) return [];
      return [{ response, model: requested.model, own: text.includes(requested.prompt) }];
    });
    for (const entries of groupBy(echoes, ({ model }) => model).values()) {
      const others = entries.filter(({ own }) => !own);
      if (entries.length < 10 || entries.length - others.length < entries.length * USUALLY) continue;
      verdict.should("TEXT-INTACT", others.length, 0, {
        in: others[0]?.response,
        because: `replies (of ${entries.length}) without their own prompt (the first: ${JSON.stringify(others[0]?.response.replyText?.slice(0, 60))})`,
      });
    }
    if (verdict.findings.length === 0) verdict.notApplicable("no model of the run repeats its prompt");
  },
});

/**
 * Number of replies of one kind, and the share of them, that must have the same text around their prompts before one that differs
 * is an exception.
 */
const ALIKE_LEAST = 20;
const ALIKE = 0.95;

/** The text around the prompt in the replies of a model that repeats it: the same for nearly all, or it proves nothing. */
function judgeSurroundings(responses: readonly Response[], verdict: Verdict): void {
  const echoes = responses.flatMap((response) => {
    const requested = shortPrompt(response);
    const text = requested !== undefined && response.admitted ? response.replyText : undefined;
    if (requested === undefined || !isPlain(response) || text?.includes(requested.prompt) !== true) return [];
    const kind = `${requested.model} ${response.requested.endpoint} ${response.streamed}`;
    return [{ response, kind, around: text.replace(requested.prompt, "…").trim() }];
  });
  for (const entries of groupBy(echoes, ({ kind }) => kind).values()) {
    const usual = mostCommon(entries.map(({ around }) => around));
    const others = entries.filter(({ around }) => around !== usual);
    if (entries.length < ALIKE_LEAST || entries.length - others.length < entries.length * ALIKE) continue;
    verdict.should("TEXT-INTACT", others.length, 0, {
      in: others[0]?.response,
      because: `replies (of ${entries.length}) with different text around their prompt than the others (the first: ${JSON.stringify(others[0]?.around.slice(0, 60))})`,
    });
  }
}

function mostCommon(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}
