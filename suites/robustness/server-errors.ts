import { type Check, defineInvariant, type Response, variantOf } from "../../src/checks/index.ts";
import { groupBy } from "../../src/core/index.ts";
import { that } from "../../src/judging/index.ts";
import { requestedModel } from "../shared/model-ids.ts";

/** Times that a variant of a request is answered so before it is the request: three strays in a row are one in millions. */
const LEAST = 3;
/** What says that a server lacks something: a method, or a version of HTTP (RFC 9110, 15.6.2 and 15.6.6). */
const LACKING: readonly unknown[] = [501, 505];

const noServerError = that("no 5xx for what a client sends", () => false);

const neverByRequest = defineInvariant({
  id: "robustness.no-server-error",
  title: "No request is answered with a 5xx for what the client sent",
  covers: ["HTTP-SERVER-ERROR"],
  explains:
    "Looks at every request of the run, valid or not: a missing version header, a system item inside messages, a body of the wrong types. A 5xx says that the gateway or its provider failed, and makes clients retry what can never work. Each variant of a request that gets one is sent twice more, with a valid request for the same model in between. Three times the same 5xx, and a valid request served meanwhile, is a warning; a single one is a stray and is not. Models whose provider fails on purpose are left out, and so are 501 and 505.",
  judge(answers, verdict) {
    const answered = answers.filter(({ status, asked }) => status !== undefined && asked.upstreamFails !== true);
    if (answered.length === 0) return verdict.inconclusive("nothing was answered");
    const failing = answered.filter(({ status = 0 }) => status >= 500 && !LACKING.includes(status));
    // Most answers of a run are no 5xx, and need not be told apart.
    const suspects = new Set(failing.map(({ exchange }) => variantOf(exchange)));
    const variants =
      suspects.size === 0
        ? []
        : [...groupBy(answered, ({ exchange }) => variantOf(exchange))].filter(([variant]) => suspects.has(variant));
    let broken = 0;
    for (const [, own] of variants) {
      const [first] = own;
      if (first === undefined || own.length < LEAST || own.some(({ status }) => status !== first.status)) continue;
      if (!servedBetween(own, answered)) continue;
      broken++;
      verdict.should("HTTP-SERVER-ERROR", first.status, noServerError, {
        in: first,
        at: "status",
        because: `${own.length} times, while valid requests were served: ${first.summary}`,
      });
    }
    if (broken === 0)
      verdict.should("HTTP-SERVER-ERROR", broken, 0, {
        because: `variants of a request that are always answered with a 5xx, of ${answered.length} requests`,
      });
  },
});

/** Whether another request for the same model was served after the first of them and before the last one. */
function servedBetween(own: readonly Response[], answers: readonly Response[]): boolean {
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) return false;
  const model = requestedModel(first);
  const needsModel = model !== undefined && first.asked.endpoint !== "models";
  return answers.some(
    (answer) =>
      answer.admitted &&
      answer.exchange.timeline.dueUs >= first.exchange.timeline.endUs &&
      answer.exchange.timeline.endUs <= last.exchange.timeline.endUs &&
      (!needsModel || requestedModel(answer) === model),
  );
}

export const SERVER_ERRORS: readonly Check[] = [neverByRequest];
