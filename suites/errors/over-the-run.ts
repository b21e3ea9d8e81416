import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { absent, oneOf, that, type Verdict } from "../../src/judging/index.ts";
import { isOfInterface } from "../shared/cases/of-interface.ts";
import { requestedModel } from "../shared/requests/requested-model.ts";

const successIsAReply = defineInvariant({
  id: "errors.success-is-a-reply",
  title: "A 2xx contains a reply and no error",
  covers: ["ERR-200-1", "REFUSED-IN-TIME"],
  explains:
    "Checks every 2xx response of the run to an inference request, whether the request was valid or not. A non-streaming reply must be JSON and, if the request was valid, have the fields of its dialect. A 2xx must never contain an error object instead of the reply: clients must be able to distinguish success from failure by the status alone. A stream that began with 2xx and contains an error instead of output was rejected too late to have a status. Where the specification names the status (of a denial, and 5xx where a provider fails), that is a failure; otherwise (a rejected body) it is one warning here, and other checks treat it as a rejection.",
  judge(responses, verdict) {
    const replies = responses.filter((response) => {
      const { status = 0, requested, complete } = response;
      return requested.endpoint !== "models" && isOfInterface(response) && complete && status >= 200 && status < 300;
    });
    if (!replies.some(({ requested }) => requested.intent === "valid"))
      return verdict.inconclusive("no inference request was served");
    for (const response of replies) judgeSuccess(response, verdict);
  },
});

const IN_TIME = "a stream with output, or a refusal by its status";
const LATE = "200 with an error instead of output";

const aList = that<number | undefined>("a list", (members) => members !== undefined);

function judgeSuccess(response: Response, verdict: Verdict): void {
  const seen = { in: response };
  if (response.streamed) {
    if (response.requested.intent === "denied")
      verdict.must("ERR-200-1", response.refusedLate ? response.stream.errors[0] : undefined, absent, {
        ...seen,
        at: "status",
      });
    else verdict.should("REFUSED-IN-TIME", response.refusedLate ? LATE : IN_TIME, IN_TIME, { ...seen, at: "status" });
    return;
  }
  if (response.requested.mode === "streaming" && response.stream.framing === "empty") return;
  if (!verdict.must("ERR-200-1", response.json === undefined, false, { ...seen, because: "the body is not JSON" }))
    return;
  verdict.must("ERR-200-1", response.reply.error, absent, { ...seen, at: "/error" });
  // A reply to an unusual request may have another form.
  if (response.requested.intent !== "valid") return;
  const place = response.requested.endpoint === "messages" ? "content" : "choices";
  verdict.must("ERR-200-1", response.reply.parts, aList, { ...seen, because: `"${place}" of the reply` });
}

const everyDenialIsNamed = defineInvariant({
  id: "errors.denials-are-named",
  title: "Every 401, 402 and 429 of the run names a reason that matches its status",
  covers: ["ERR-HDR-1"],
  explains:
    "Checks every response with 401, 402 or 429, whichever check caused it, for a model that is otherwise served: it is a gateway denial and must carry one of the reasons that the table lists for that status.",
  judge(responses, verdict) {
    // The provider of a model that never served anything may be the one that denies; then it is unclear whose denial it is.
    const serving = new Set(responses.filter(({ admitted }) => admitted).map(requestedModel));
    const denials = responses.filter(
      (response) =>
        (response.status === 401 || response.status === 402 || response.status === 429) &&
        isOfInterface(response) &&
        (response.requested.endpoint === "models" ||
          response.reason !== undefined ||
          serving.has(requestedModel(response))),
    );
    if (denials.length === 0) return verdict.inconclusive("nothing was denied");
    for (const response of denials) {
      verdict.must("ERR-HDR-1", response.reason, oneOf(...response.reasonsOfStatus), { in: response, at: "reason" });
    }
  },
});
export const ERRORS_OVER_THE_RUN: readonly Check[] = [successIsAReply, everyDenialIsNamed];
