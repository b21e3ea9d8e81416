import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { isObject } from "../../src/core/index.ts";
import { MODES } from "../../src/dialects/index.ts";
import { atMost, callerError, success, that } from "../../src/judging/index.ts";
import { assumeControl, sendControl } from "../shared/requests/control-request.ts";
import { inTurns } from "../shared/requests/texts.ts";
import { SYSTEM } from "./system.ts";

const maxTokensIsMandatory = defineCheck({
  id: "messages.max-tokens-mandatory",
  title: "A body without max_tokens is rejected",
  covers: ["MSG-4", "MSG-5"],
  explains:
    "max_tokens is mandatory: without it there must be no generated reply, streaming or not, with or without a system text, and the rejection should be a 4xx. With a silent default, callers pay for lengths that they did not request.",
  across: { mode: MODES },
  cost: { requests: 4 },
  async run(t) {
    const control = await sendControl(t, { endpoint: "messages" });
    const request: RequestSpec = { endpoint: "messages", omit: ["max_tokens"], intent: "invalid" };
    return {
      control,
      refused: [
        await t.send(request),
        await t.send({ ...request, freshConnection: true }),
        await t.send({ ...request, fields: { system: "Answer briefly." } }),
      ],
    };
  },
  judge({ control, refused }, verdict) {
    assumeControl(verdict, control);
    for (const response of refused) {
      const seen = { in: response, at: "status" };
      verdict.must(
        "MSG-4",
        response.status,
        that("anything but 2xx", (value) => !success.test(value)),
        seen,
      );
      verdict.should("MSG-5", response.status, callerError, seen);
    }
  },
});

const BAD_LIMITS: Readonly<Record<string, unknown>> = {
  string: "16",
  fraction: 1.5,
  negative: -1,
  zero: 0,
  boolean: true,
  null: null,
};

const maxTokensIsAnInteger = defineCheck({
  id: "messages.max-tokens-type",
  title: "A max_tokens that is not a positive integer is rejected as the caller's error",
  covers: ["MSG-5"],
  explains:
    "max_tokens is an integer. A string, a fraction, a negative number, zero, true and null should get 4xx rather than 5xx or a reply.",
  across: { mode: MODES, case: Object.keys(BAD_LIMITS) },
  cost: { requests: 2 },
  async run(t) {
    const control = await sendControl(t, { endpoint: "messages" });
    return {
      control,
      refused: await t.send({ endpoint: "messages", fields: { max_tokens: BAD_LIMITS[t.case] }, intent: "invalid" }),
    };
  },
  judge({ control, refused }, verdict) {
    assumeControl(verdict, control);
    verdict.should("MSG-5", refused.status, callerError, { in: refused, at: "status" });
  },
});

/** The output limit of the short reply, tokens; and the minimum length of a long reply, characters. */
const SHORT_LIMIT = 8;

const LONG_REPLY = 400;

const maxTokensBounds = defineCheck({
  id: "messages.max-tokens-bounds",
  title: "max_tokens limits the output",
  covers: ["MSG-6"],
  explains:
    "Sends the same long-reply prompt with a large limit and with a limit of 8 tokens, also as the last turn of a conversation and with a system prompt. The short reply should be much shorter, and an output count in usage should not exceed the limit. Judged only when the reply with the large limit is long.",
  across: { mode: MODES },
  cost: { requests: 6 },
  async run(t) {
    const prompt = `Count from one to two hundred in words. ${Array.from({ length: 200 }, (_, i) => `number${i}`).join(" ")}`;
    const request: RequestSpec = { endpoint: "messages", prompt };
    const control = await sendControl(t, { ...request, maxTokens: 2_000 });
    return {
      control,
      short: [
        await t.send({ ...request, maxTokens: SHORT_LIMIT }),
        await t.send({ ...request, maxTokens: SHORT_LIMIT, freshConnection: true }),
        await t.send({ ...request, maxTokens: SHORT_LIMIT, prompt: inTurns(prompt) }),
        await t.send({ ...request, maxTokens: SHORT_LIMIT, system: SYSTEM }),
      ],
    };
  },
  judge({ control, short }, verdict) {
    assumeControl(verdict, control);
    const long = control.control.replyText?.length ?? 0;
    for (const response of short) {
      verdict.requireControl(response, "the request with a small limit");
      const count = outputCount(response);
      if (count !== undefined)
        verdict.should("MSG-6", count, atMost(SHORT_LIMIT), {
          in: response,
          at: "/usage",
          because: "output tokens counted",
        });
      if (long >= LONG_REPLY && response.replyText !== undefined) {
        verdict.should("MSG-6", response.replyText.length, atMost(Math.floor(long / 2)), {
          in: response,
          because: `characters of reply; ${long} with a limit of 2,000 tokens`,
        });
      }
    }
    if (verdict.findings.length === 0) verdict.notApplicable("the replies are too short, and state no output tokens");
  },
});

/** An output count, if one can be recognised. In streams the last one counts: usage there is cumulative. */
function outputCount(response: Response): number | undefined {
  const names = ["output_tokens", "completion_tokens"];
  const sources = response.streamed ? response.stream.events.map(({ json }) => json) : [response.json];
  const counts = sources.flatMap((json) => {
    const usage = isObject(json) ? json["usage"] : undefined;
    return isObject(usage) ? names.map((name) => usage[name]).filter((count) => typeof count === "number") : [];
  });
  return counts.at(-1);
}

export const MAX_TOKENS: readonly Check[] = [maxTokensIsMandatory, maxTokensIsAnInteger, maxTokensBounds];
