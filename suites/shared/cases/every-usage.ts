import { type Check, defineInvariant } from "../../../src/checks/index.ts";
import type { Dialect } from "../../../src/dialects/index.ts";
import { tokenCounts } from "../../../src/judging/index.ts";

const REQUIREMENT = { chat: "CHAT-3", messages: "MSG-3" } as const;

/** Token counts in every non-streaming reply of a run, whatever was requested, including long replies and other models. */
export function everyUsage(dialect: Dialect): Check {
  return defineInvariant({
    id: `${dialect}.every-usage`,
    title: "Every non-streaming reply of the run carries token counts",
    covers: [REQUIREMENT[dialect]],
    explains:
      "Checks every non-streaming reply in this dialect, whichever check caused it, including replies to parameters that the gateway need not accept. Each must have a `usage` with at least one count: without counts, the caller cannot account for the cost.",
    judge(responses, verdict) {
      const replies = responses.filter(
        (response) =>
          response.requested.endpoint === dialect &&
          response.requested.mode === "non-streaming" &&
          (response.requested.intent === "valid" || response.reply.parts !== undefined) &&
          response.admitted &&
          !response.streamed &&
          response.isJson,
      );
      if (replies.length === 0) return verdict.inconclusive("no non-streaming reply was seen");
      const without = replies.filter(({ reply }) => !tokenCounts.test(reply.usage));
      const [shown = replies[0]] = without;
      verdict.must(REQUIREMENT[dialect], shown?.reply.usage, tokenCounts, {
        in: shown,
        at: "/usage",
        because: `in ${without.length} of ${replies.length} non-streaming replies`,
      });
    },
  });
}
