import { type Check, defineInvariant } from "../../../src/checks/index.ts";
import { member } from "../../../src/core/index.ts";
import { type Dialect, parseJson } from "../../../src/dialects/index.ts";

const REQUIREMENT = { chat: "CHAT-7", messages: "MSG-2" } as const;

/** No response of a run is a stream unless one was requested, including those of slow models and long replies. */
export function everyNonStreaming(dialect: Dialect): Check {
  return defineInvariant({
    id: `${dialect}.every-non-streaming`,
    title: "No reply is a stream unless the request sets `stream`",
    covers: [REQUIREMENT[dialect]],
    explains:
      "Checks every served non-streaming request (`stream` absent or false) of the run in this dialect, whichever check sent it and to whichever model. Its reply must be a document, not an event stream.",
    judge(responses, verdict) {
      const served = responses.filter(({ requested, status = 0, exchange }) => {
        if (requested.endpoint !== dialect || requested.mode !== "non-streaming" || status < 200 || status > 299)
          return false;
        const sent = parseJson(exchange.request.body ?? "");
        return member(sent, "messages") !== undefined && (member(sent, "stream") ?? false) === false;
      });
      if (served.length === 0) return verdict.inconclusive("no non-streaming request was served");
      const streamed = served.filter((response) => response.streamed);
      verdict.must(REQUIREMENT[dialect], streamed.length, 0, {
        in: streamed[0] ?? served[0],
        at: "Content-Type",
        because: `replies (of ${served.length}) that were streams although none was requested`,
      });
    },
  });
}
