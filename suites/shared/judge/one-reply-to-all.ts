import { type Check, defineInvariant, type Response } from "../../../src/checks/index.ts";
import { groupBy, noncesIn } from "../../../src/core/index.ts";
import type { Dialect } from "../../../src/dialects/index.ts";
import { isPlain, shortPrompt } from "../requests/short-prompt.ts";
import { MAX_FALSE_FAILURE } from "./fisher-split.ts";

/** A reply is only compared if at least this many different prompts got it. */
const MIN_PROMPTS = 8;

/** Output tokens that a reply needs to repeat the unique text of its prompt. */
const MIN_OUTPUT_TOKENS = 32;

/** A reply to a short prompt. */
interface Reply {
  readonly response: Response;
  readonly model: string;
  readonly mode: string;
  readonly prompt: string;
  /** The unique text of the prompt. */
  readonly nonce: string;
  readonly text: string;
}

/** Whether replies of a dialect depend on the conversation at all. */
export function repliesDifferByPrompt(dialect: Dialect): Check {
  return defineInvariant({
    id: `${dialect}.reply-to-the-prompt`,
    title: "Different conversations get different replies",
    covers: ["BASE-3"],
    dialect,
    explains:
      "Checks every served request of the run with a short prompt. If a model repeats its prompt in one dialect or mode, the same reply to eight different prompts in another is one stored reply for all of them. So is a text that contains the prompt of another request. If the replies of a model vary but do not repeat the prompt, the shared text must be so rare in its other replies that chance explains it in fewer than one of 10,000 runs. A model that always says the same, in every dialect and mode, does not affect the verdict: it may be built that way.",
    judge(responses, verdict) {
      const replies = responses.flatMap(toReply);
      const own = replies.filter(({ response }) => response.requested.endpoint === dialect);
      if (own.length === 0) return verdict.inconclusive("no reply to a short prompt had a text");
      let compared = 0;
      let undecided: string | undefined;
      for (const alike of groupBy(own, ({ model, mode }) => `${model} ${mode}`).values()) {
        const [first] = alike;
        if (first === undefined || new Set(alike.map(({ nonce }) => nonce)).size < MIN_PROMPTS) continue;
        compared++;
        if (alike.some(({ text }) => text !== first.text)) continue;
        // An echo that is truncated early is the same for all prompts, but it is not a stored reply.
        if (alike.every(({ prompt, text }) => prompt.startsWith(text))) continue;
        const others = replies.filter((reply) => reply.model === first.model && !alike.includes(reply));
        const what = `the same text for ${alike.length} different prompts (${dialect}, ${first.mode}): ${JSON.stringify(first.text.slice(0, 60))}`;
        if (chanceOf(first.text, alike.length, others) <= MAX_FALSE_FAILURE)
          verdict.must("BASE-3", true, false, { in: first.response, because: what });
        else
          undecided ??= `${what}; in its other dialects and modes, ${first.model} gives no reply that shows whether this is chance. Name a model that repeats its prompt as models.echo`;
      }
      if (verdict.findings.length > 0) return;
      if (undecided !== undefined) return verdict.inconclusive(undecided);
      if (compared === 0)
        return verdict.notApplicable(`no model got ${MIN_PROMPTS} different short prompts in one dialect and mode`);
      verdict.must("BASE-3", 0, 0, {
        because: `one reply for all prompts, among ${compared} combinations of model and mode`,
      });
    },
  });
}

/** The probability that a model says the same text `times` times in a row by chance, estimated from its replies in other dialects and modes. */
function chanceOf(text: string, times: number, others: readonly Reply[]): number {
  // The shared reply contains the unique text of one prompt.
  if (noncesIn(text).length > 0) return 0;
  if (others.length < MIN_PROMPTS) return 1;
  // A model that repeats its prompt cannot give two prompts the same reply.
  if (others.some((reply) => reply.text.includes(reply.nonce))) return 0;
  const same = others.filter((reply) => reply.text === text).length;
  return ((same + 1) / (others.length + 1)) ** (times - 1);
}

function toReply(response: Response): Reply[] {
  const request = shortPrompt(response, MIN_OUTPUT_TOKENS);
  const text = request !== undefined && response.admitted ? response.replyText?.trim() : undefined;
  const { nonce } = response.requested;
  if (request === undefined || text === undefined || text === "" || nonce === undefined || !isPlain(response))
    return [];
  return [
    {
      response,
      model: request.model,
      prompt: request.prompt,
      nonce,
      text,
      mode: response.streamed ? "streaming" : "non-streaming",
    },
  ];
}
