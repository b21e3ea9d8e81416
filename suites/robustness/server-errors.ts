import { type Check, defineInvariant, type Response, requestedModel, variantOf } from "../../src/checks/index.ts";
import { groupBy } from "../../src/core/index.ts";
import { that } from "../../src/judging/index.ts";

/**
 * How often the same request must get the same 5xx before the request counts as its cause. Three consecutive stray failures
 * happen once in millions.
 */
const MIN_REPETITIONS = 3;
/** A method or a version of HTTP that the server does not support (RFC 9110, 15.6.2 and 15.6.6). */
const UNSUPPORTED: readonly unknown[] = [501, 505];

const noServerError = that("no 5xx caused by the request", () => false);

const noServerErrorByRequest = defineInvariant({
  id: "robustness.no-server-error",
  title: "No request gets a 5xx because of what the client sent",
  covers: ["HTTP-SERVER-ERROR"],
  explains:
    "Checks every request of the run, valid or not: a missing version header, a system item inside messages, a body with the wrong types. A 5xx says that the gateway or its provider failed, and makes clients retry a request that can never succeed. Each variant of a request that gets a 5xx is sent twice more, after a valid request for the same model. The same 5xx three times, while a valid request is served, is a warning; a single 5xx is not. Models whose provider fails on purpose are skipped, and so are 501 and 505.",
  judge(responses, verdict) {
    const received = responses.filter(
      ({ status, requested }) => status !== undefined && requested.upstreamFails !== true,
    );
    if (received.length === 0) return verdict.inconclusive("no request got a response");
    const failing = received.filter(({ status = 0 }) => status >= 500 && !UNSUPPORTED.includes(status));
    // Most responses are not a 5xx: only the variants that got one are grouped.
    const suspects = new Set(failing.map(({ exchange }) => variantOf(exchange)));
    const variants =
      suspects.size === 0
        ? []
        : [...groupBy(received, ({ exchange }) => variantOf(exchange))].filter(([variant]) => suspects.has(variant));
    let failures = 0;
    for (const [, own] of variants) {
      const [first] = own;
      if (first === undefined || own.length < MIN_REPETITIONS || own.some(({ status }) => status !== first.status))
        continue;
      if (!servedBetween(own, received)) continue;
      failures++;
      verdict.should("HTTP-SERVER-ERROR", first.status, noServerError, {
        in: first,
        at: "status",
        because: `the same status ${own.length} times, while valid requests were served`,
      });
    }
    if (failures === 0)
      verdict.should("HTTP-SERVER-ERROR", failures, 0, {
        because: `request variants that always got a 5xx, among ${received.length} requests`,
      });
  },
});

/** Whether a request for the same model was served between the first and the last of these responses. */
function servedBetween(own: readonly Response[], responses: readonly Response[]): boolean {
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) return false;
  const model = requestedModel(first);
  const needsModel = model !== undefined && first.requested.endpoint !== "models";
  return responses.some(
    (response) =>
      response.admitted &&
      response.exchange.timeline.dueUs >= first.exchange.timeline.endUs &&
      response.exchange.timeline.endUs <= last.exchange.timeline.endUs &&
      (!needsModel || requestedModel(response) === model),
  );
}

export const SERVER_ERRORS: readonly Check[] = [noServerErrorByRequest];
