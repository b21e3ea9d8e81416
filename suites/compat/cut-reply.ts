import type { Check, RequestSpec, Response } from "../../src/checks/index.ts";
import { type Dialect, MODES, type Mode } from "../../src/dialects/index.ts";
import type { Verdict } from "../../src/judging/index.ts";
import { AMPLE_TOKENS, LONG_TEXT } from "../shared/requests/texts.ts";
import { defineCompat } from "./define-compat.ts";

/** Tokens: fewer than any model needs for the long prompt, so that the limit ends the reply. */
const LIMIT = 6;

/** How many times longer the reply without the limit must be before the short one counts as truncated. */
const CUT_FACTOR = 3;

const REASON = { chat: "length", messages: "max_tokens" } as const;
const REQUIREMENT = { chat: "COMPAT-CHAT-FINISH", messages: "COMPAT-MSG-REPLY" } as const;

function finishOf(response: Response): unknown {
  return response.streamed ? response.stream.finishReasons.at(-1) : response.reply.finishReason;
}

function judge(dialect: Dialect, mode: Mode | undefined, free: Response, cut: Response, verdict: Verdict): void {
  // Another check reports a dialect that does not stream.
  if (mode === "streaming" && !free.streamed) verdict.notApplicable(`nothing was streamed (${free.summary})`);
  verdict.requireControl(free, "the request with a large limit");
  const whole = free.replyText ?? "";
  const part = cut.replyText ?? "";
  // A model may say something else the second time, or have nothing more to say: only a clear truncation is judged.
  if (
    !cut.admitted ||
    part.length === 0 ||
    whole.length < CUT_FACTOR * part.length ||
    !whole.startsWith(part.trimEnd())
  )
    verdict.notApplicable("the limit did not visibly cut the reply");
  verdict.compat(REQUIREMENT[dialect], finishOf(cut), REASON[dialect], {
    in: cut,
    because: "why the reply ended, where max_tokens cut it off",
  });
}

const EXPLAINS =
  "Sends the same long prompt with a large and with a tiny limit. Where the second reply is a prefix of the first, the finish reason must say that the limit ended it; otherwise agents treat a partial reply as complete.";

function cutReply(dialect: Dialect, field: string): Check {
  return defineCompat(dialect, {
    id: `compat.${dialect}-cut-reply`,
    title: "A reply truncated by the limit says so",
    covers: [REQUIREMENT[dialect]],
    explains: EXPLAINS,
    needs: ["model.echo"],
    across: { mode: MODES },
    cost: { requests: 2 },
    async run(t) {
      const request: RequestSpec = { endpoint: dialect, model: "echo", prompt: LONG_TEXT, intent: "invalid" };
      return {
        free: await t.send({ ...request, fields: { [field]: AMPLE_TOKENS } }),
        cut: await t.send({ ...request, fields: { [field]: LIMIT } }),
      };
    },
    judge: ({ free, cut }, verdict, { mode }) => judge(dialect, mode, free, cut, verdict),
  });
}

export const CUT_REPLY_COMPAT: readonly Check[] = [cutReply("chat", "max_tokens"), cutReply("messages", "max_tokens")];
