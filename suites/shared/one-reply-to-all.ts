import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { groupBy, noncesIn } from "../../src/core/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import { MAX_FALSE_FAILURE } from "./fisher-split.ts";
import { isPlain, shortPrompt } from "./short-prompt.ts";

/** Different prompts that must have had the same reply before it is more than chance. */
const LEAST = 8;

/** Room for a reply that has the unique text of its prompt. */
const TOKENS = 32;

/** A reply to a short prompt. */
interface Reply {
  readonly answer: Response;
  readonly model: string;
  readonly mode: string;
  /** The unique text of the prompt. */
  readonly nonce: string;
  readonly text: string;
}

/** Whether replies of a dialect depend on the conversation at all. */
export function repliesDifferByPrompt(dialect: Dialect): Check {
  return defineInvariant({
    id: `${dialect}.reply-to-the-prompt`,
    title: "Different conversations get replies of their own",
    covers: ["BASE-3"],
    dialect,
    explains:
      "Looks at every served request of the run with a short prompt. A model that repeats its prompt in one dialect or mode, or says different things there, cannot say the same to eight different prompts in another: that is one stored reply for all. So is a text that repeats the prompt of another request. Where a model varies without repeating, the text must be so rare elsewhere that chance explains it less than once in 10,000 runs. A model that says the same to everybody in every form decides nothing: it may be made so.",
    judge(answers, verdict) {
      const replies = answers.flatMap(toReply);
      const own = replies.filter(({ answer }) => answer.asked.endpoint === dialect);
      if (own.length === 0) return verdict.inconclusive("no reply had a text");
      let compared = 0;
      let undecided: string | undefined;
      for (const alike of groupBy(own, ({ model, mode }) => `${model} ${mode}`).values()) {
        const [first] = alike;
        if (first === undefined || new Set(alike.map(({ nonce }) => nonce)).size < LEAST) continue;
        compared++;
        if (alike.some(({ text }) => text !== first.text)) continue;
        const others = replies.filter((reply) => reply.model === first.model && !alike.includes(reply));
        const what = `the same text for ${alike.length} different prompts (${dialect}, ${first.mode}): ${JSON.stringify(first.text.slice(0, 60))}`;
        if (chanceOf(first.text, alike.length, others) <= MAX_FALSE_FAILURE)
          verdict.must("BASE-3", true, false, { in: first.answer, because: what });
        else
          undecided ??= `${what}, and no other form in which ${first.model} says anything else: name a model that repeats its prompt as models.echo`;
      }
      if (verdict.findings.length > 0) return;
      if (undecided !== undefined) return verdict.inconclusive(undecided);
      if (compared === 0)
        return verdict.notApplicable(`no model was given ${LEAST} different short prompts in one form`);
      verdict.must("BASE-3", 0, 0, { because: `one reply for all prompts, of ${compared} forms of models` });
    },
  });
}

/** The likelihood that one text comes so often in a row where other forms of the same model show how common it is. */
function chanceOf(text: string, times: number, others: readonly Reply[]): number {
  // The unique text of a prompt, in a reply to all of them.
  if (noncesIn(text).length > 0) return 0;
  if (others.length < LEAST) return 1;
  // What repeats its prompt has no reply that fits two of them.
  if (others.some((reply) => reply.text.includes(reply.nonce))) return 0;
  const same = others.filter((reply) => reply.text === text).length;
  return ((same + 1) / (others.length + 1)) ** (times - 1);
}

function toReply(answer: Response): Reply[] {
  const asked = shortPrompt(answer, TOKENS);
  const text = answer.admitted ? answer.replyText?.trim() : undefined;
  const { nonce } = answer.asked;
  if (asked === undefined || text === undefined || text === "" || nonce === undefined || !isPlain(answer)) return [];
  return [
    {
      answer,
      model: asked.model,
      nonce,
      text,
      mode: answer.streamed ? "streaming" : "non-streaming",
    },
  ];
}
