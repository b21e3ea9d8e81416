import { type Check, defineCheck, type Response } from "../../../src/checks/index.ts";
import { serverError, success, type Verdict } from "../../../src/judging/index.ts";
import { isConcurrencyDenial, isServed } from "../denials.ts";
import { servedAtLimit, wasAtLimit } from "./in-flight.ts";
import type { ConcurrencyRecording } from "./recording.ts";
import { concurrencyScenario } from "./scenario.ts";

/** The response to a kind of request that was served at the concurrency limit. */
function servedKindAtLimit({ extras, held }: ConcurrencyRecording, kind: string): Response | undefined {
  return servedAtLimit(extras.find((extra) => extra.kind === kind)?.responses ?? [], held);
}

/** Marks requests that were sent at the limit as inconclusive if their response arrived only after the streams ended. */
function openWhereLate({ extras, held }: ConcurrencyRecording, kinds: readonly string[], verdict: Verdict): void {
  const late = extras.filter(
    ({ kind, responses }) =>
      kinds.includes(kind) && responses.length > 0 && !responses.some((response) => wasAtLimit(response, held)),
  );
  if (late.length === 0) return;
  const names = late.map(({ kind }) => kind).join(", ");
  verdict.markUndecided(
    "inconclusive",
    `the streams were over before these could be tried at the limit: ${names}; name a longer model as models.stream`,
  );
}

const sharedByKeys = defineCheck({
  id: "limits.concurrency-shared-by-keys",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "The keys of an account share its concurrency limit",
  covers: ["LIMIT-1"],
  explains: "While one key's streams fill the concurrency limit, the account's other key must be denied too.",
  needs: ["limited.concurrency.second"],
  judge(recording, verdict) {
    verdict.assume(recording.held.every(isServed), "streams up to the concurrency limit were admitted");
    const served = servedKindAtLimit(recording, "other key");
    verdict.must("LIMIT-1", served !== undefined, false, {
      in: served,
      because: "the other key was served at the concurrency limit",
    });
    openWhereLate(recording, ["other key"], verdict);
  },
});

const sharedByKinds = defineCheck({
  id: "limits.concurrency-shared-by-kinds",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "Both dialects, streaming and non-streaming requests and all models share the concurrency limit",
  covers: ["LIMIT-5", "LIMIT-1", "LIMIT-CONC-2", "LIMIT-CONC-8", "ERR-404-MODEL"],
  explains:
    "While chat streams fill the concurrency limit, every other kind of request is sent. Streams and other models must be denied, the other dialect should be; an unknown model may be denied for either reason; whether the model list counts is recorded.",
  judge(recording, verdict) {
    verdict.assume(recording.held.every(isServed), "streams up to the concurrency limit were admitted");
    const say = (kind: string) => ({
      in: servedKindAtLimit(recording, kind),
      because: `${kind} served at the concurrency limit`,
    });
    const served = (kind: string) => servedKindAtLimit(recording, kind) !== undefined;
    verdict.must("LIMIT-CONC-2", served("streams"), false, say("streams"));
    verdict.must("LIMIT-1", served("other model"), false, say("other model"));
    openWhereLate(recording, ["streams", "other model", "messages", "messages streams"], verdict);
    for (const kind of ["messages", "messages streams"])
      if (recording.extras.some((extra) => extra.kind === kind))
        verdict.should("LIMIT-5", served(kind), false, say(kind));
    const unknown = recording.extras.find(({ kind }) => kind === "unknown model")?.responses ?? [];
    const failed = unknown.find(({ status }) => serverError.test(status) || success.test(status));
    if (unknown.length > 0)
      verdict.must("ERR-404-MODEL", failed !== undefined, false, {
        in: failed ?? unknown[0],
        because: "at the concurrency limit an unknown model was denied for neither reason",
      });
    const list = recording.extras.find(({ kind }) => kind === "model list")?.responses.map(({ status }) => status);
    verdict.observe("LIMIT-CONC-8", { listWhileFull: list ?? [] });
  },
});

const otherAccounts = defineCheck({
  id: "limits.concurrency-other-account",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "One account's requests in flight do not count against another",
  covers: ["LIMIT-1"],
  explains: "While one account is at its concurrency limit, requests with keys of other accounts must be served.",
  judge({ others, held }, verdict) {
    verdict.assume(held.every(isServed), "streams up to the concurrency limit were admitted");
    if (others.length === 0) return verdict.notApplicable("the target has no key of another account");
    if (!others.some(({ responses }) => responses.some((response) => wasAtLimit(response, held))))
      verdict.markUndecided("inconclusive", "the streams were over before another account could be tried");
    for (const { account, responses } of others) {
      const denied = responses.filter(isConcurrencyDenial);
      verdict.must("LIMIT-1", denied.length, 0, {
        in: denied[0],
        because: `requests of another account (${account}) were denied by the concurrency limit`,
      });
    }
  },
});

export const CONCURRENCY_SHARING: readonly Check[] = [sharedByKeys, sharedByKinds, otherAccounts];
