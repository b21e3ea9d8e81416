import { type Check, type CheckSpec, defineCheck, type Response, unblockLines } from "../../src/checks/index.ts";
import { atMost, success, type Verdict } from "../../src/judging/index.ts";
import { withoutStrays } from "../limits/denials.ts";
import { denialRequirements, judgeDenial } from "../shared/judge/judge-denial.ts";
import { describeKind, isSpendingDenial, type UsedUpState } from "./drive.ts";
import { passedTheLimit } from "./key-bursts.ts";
import type { KeyRecording } from "./key-recording.ts";
import { usedUpScenario } from "./key-scenario.ts";

/** Lines of the target file that give a check an unused key. */
function freshKey(state: UsedUpState): string[] {
  const [key = "", line = ""] = unblockLines(`key.${state}`);
  return [
    key,
    `${line} # a new key, with room for several small requests; or a provision command makes one for each check`,
  ];
}

/** States the preconditions that all checks of a state share. */
function assumeUnused({ before, state }: KeyRecording, verdict: Verdict): void {
  if (before === null) verdict.notApplicable("a quick run does not use up a key that it cannot create again");
  else if (isSpendingDenial(before))
    verdict.missingFixture(
      `the key ${state} is already used up: its first request got ${before.summary}`,
      freshKey(state),
    );
  else verdict.requireControl(before, `the first request with the key ${state}`);
}

const SCENARIOS = {
  cappable: usedUpScenario("cappable", assumeUnused),
  childSmall: usedUpScenario("childSmall", assumeUnused),
} as const;

/** A check that exists for the daily cap and for the lifetime budget. */
type UsedUpSpec = Pick<CheckSpec<KeyRecording>, "title" | "explains" | "judge"> & {
  readonly covers: Readonly<Record<UsedUpState, CheckSpec<KeyRecording>["covers"]>>;
};

function defineUsedUp(state: UsedUpState, id: CheckSpec<KeyRecording>["id"], { covers, ...spec }: UsedUpSpec): Check {
  return defineCheck({ ...spec, id, scenario: SCENARIOS[state], covers: covers[state] });
}

const setsIn: UsedUpSpec = {
  title: "A small limit takes effect for every kind of traffic",
  covers: { cappable: ["SPEND-12", "SPEND-5"], childSmall: ["SPEND-12"] },
  explains:
    "Uses a key with a small cap or budget until it is denied, with one kind of traffic at a time: streams only, one dialect only. The tally may lag by about a minute for a daily cap; a kind that never leads to a denial is not charged.",
  judge({ drives, state }, verdict) {
    const [open] = drives.flatMap(({ kind, stoppedBecause }) =>
      stoppedBecause === null ? [] : [`${describeKind(kind)}: stopped early, because ${stoppedBecause}`],
    );
    for (const { kind, served, denial, waitedS, first, stoppedBecause } of drives) {
      if (stoppedBecause !== null || (served === 0 && denial === null)) continue;
      const why = `${describeKind(kind)}: ${served} served, ${denial === null ? `no denial after another ${waitedS.toFixed(0)} s` : `then ${denial.summary}`}`;
      verdict.should("SPEND-12", denial === null, false, { in: denial ?? first ?? undefined, because: why });
      if (state === "cappable")
        verdict.should("SPEND-5", denial === null, false, { in: denial ?? first ?? undefined, because: why });
    }
    if (verdict.findings.length === 0) verdict.inconclusive(open ?? "the key served nothing");
    if (open !== undefined) verdict.markUndecided("inconclusive", open);
  },
};

const denialFormat: UsedUpSpec = {
  title: "A used-up key is denied with its own status and reason in every kind of traffic, and stays denied",
  covers: { cappable: denialRequirements("quota_exceeded"), childSmall: denialRequirements("budget_exhausted") },
  explains:
    "Once the limit takes effect, the key must be denied in both dialects, streaming and non-streaming, with the status and reason in the specification: 402 quota_exceeded for the daily cap, 429 budget_exhausted for the lifetime budget.",
  judge({ denied, open, again, drives, expected }, verdict) {
    const [own] = drives;
    if (own?.denial == null) return verdict.inconclusive("the limit never took effect");
    if (open !== null) verdict.markUndecided("inconclusive", open);
    judgeDenial(verdict, own.denial, expected);
    for (const response of denied) {
      // A gateway that does not stream on /messages may say so first.
      if (
        response.requested.endpoint === "messages" &&
        response.requested.mode === "streaming" &&
        response.status === 400
      )
        continue;
      judgeDenial(verdict, response, expected);
    }
    if (again !== null) judgeDenial(verdict, again, expected);
  },
};

const spellings: UsedUpSpec = {
  title: "A used-up key is denied in every spelling",
  covers: { cappable: ["ERR-402-QUOTA"], childSmall: ["ERR-429-BUDGET"] },
  explains:
    "The used-up key is sent as `bearer`, with two spaces after the scheme, and with an x-api-key header next to the bearer key or instead of it. A gateway may reject these with 401; it must not serve them. A spelling that is served is tried again later, because a gateway may settle charges with a delay. A failure means that spending is counted by the text of a header instead of by key: a client that varies the header bypasses the limit.",
  judge({ spelled, drives, state }, verdict) {
    if (drives[0]?.denial == null) return verdict.inconclusive("the limit never took effect");
    if (spelled.length === 0) return verdict.notApplicable("a quick run, or some kinds of traffic were still served");
    const requirement = state === "cappable" ? "ERR-402-QUOTA" : "ERR-429-BUDGET";
    for (const { spelling, first, later, usual, nonexistent } of spelled) {
      if (nonexistent?.admitted) {
        verdict.markUndecided("inconclusive", `a key that does not exist was served with ${spelling}, too`);
        continue;
      }
      if (usual?.admitted === true) {
        verdict.markUndecided("inconclusive", "the used-up key was served again in its usual spelling");
        continue;
      }
      const served = first.admitted && later.every(({ admitted }) => admitted) ? later[0] : undefined;
      const response = served ?? later.find(({ admitted }) => !admitted) ?? first;
      verdict.must(requirement, response.admitted, false, {
        in: response,
        because: `served with ${spelling}`,
      });
    }
  },
};

const failuresAreFree: UsedUpSpec = {
  title: "Failed and rejected requests are free",
  covers: { cappable: ["SPEND-10"], childSmall: ["SPEND-10"] },
  explains:
    "Before the key is used up, batches of large requests that fail are sent with it: a failing provider, an unknown model, a rejected body. If charged, they would use up the small limit; the valid request after them must still be served, unless as many valid ones alone use up a fresh key. Where no fresh key can be created, a denial proves nothing: the key's own valid requests may have used it up.",
  judge({ batches, state }, verdict) {
    const failed: Response[] = [];
    let served = 0;
    const whats: string[] = [];
    for (const { what, failures, after, control } of batches) {
      served += failures.filter(({ status = 500 }) => status < 400).length;
      failed.push(...failures.filter(({ status = 500 }) => status >= 400));
      whats.push(what);
      if (after === null) continue;
      const denied = isSpendingDenial(after);
      // A request that was served is correctly charged, and may have used the key up, now or after a later batch.
      if (denied && (served > 0 || (control !== null && isSpendingDenial(control)))) break;
      if (denied && control === null)
        verdict.missingFixture(
          `the key ${state} had room for at least one request, and none after the failed requests: a fresh key is needed to find out which requests were charged`,
          freshKey(state),
        );
      // A failure that was denied like the valid request did not get far enough to be charged.
      const free = failed.filter(({ status, reason }) => status !== after.status || reason !== after.reason).length;
      // A denial without preceding failures is not caused by them.
      if (denied && free === 0) break;
      verdict.must("SPEND-10", denied, false, {
        in: after,
        because: `after ${free} requests that ended in ${whats.splice(0).join(", ")}`,
      });
      failed.length = 0;
    }
    if (batches.length === 0)
      return verdict.notApplicable("failures are tried on the key with a small budget, and not in a quick run");
    if (verdict.findings.length > 0) return;
    if (batches.some(({ control }) => control !== null))
      return verdict.notApplicable("the valid requests in between are enough to use the key up");
    verdict.inconclusive("no batch of requests failed");
  },
};

const siblings: UsedUpSpec = {
  title: "A used-up key does not affect the other keys of its account",
  covers: { cappable: ["SPEND-4", "SPEND-3", "SPEND-13"], childSmall: ["SPEND-9", "SPEND-13"] },
  explains:
    "While the used-up key is denied, another key of the account must be served in both dialects, streaming and non-streaming. A fresh key of its kind, where one can be created, must not be denied at its first request.",
  judge({ sibling, fresh, again, drives, state }, verdict) {
    if (drives[0]?.denial == null || again === null) return verdict.inconclusive("the limit never took effect");
    verdict.assume(isSpendingDenial(again), "the key was still denied");
    for (const response of withoutStrays(sibling)) judgeSibling(response, state, verdict);
    if (fresh !== null && drives[0].served > 0)
      verdict.should("SPEND-13", isSpendingDenial(fresh), false, {
        in: fresh,
        because: "the first request of a fresh key of the same kind",
      });
  },
};

function judgeSibling(response: Response, state: UsedUpState, verdict: Verdict): void {
  const seen = { in: response, at: "status" };
  if (state === "cappable") {
    verdict.must("SPEND-4", response.status, success, seen);
    verdict.must("SPEND-3", response.status, success, seen);
  } else {
    verdict.should("SPEND-9", response.status, success, seen);
  }
}

const parallelOvershoot: UsedUpSpec = {
  title: "Parallel requests do not far exceed the limit",
  covers: { cappable: ["SPEND-6"], childSmall: ["SPEND-6"] },
  explains:
    "On fresh keys, compares how many requests are served from a burst (three times as many as the limit pays for) with how many are served in sequence. For a lifetime budget a burst should not get twice the limit. The tally of a daily cap may lag by about a minute, so there the overshoot is only recorded. After a burst of short requests that were served beyond the limit, the key must be denied once the tally has had time to update: simultaneous charges must not get lost.",
  judge({ parallel, burst, state }, verdict) {
    if (burst !== null)
      verdict.should("SPEND-6", burst.after === null && passedTheLimit(burst), false, {
        in: burst.after ?? undefined,
        because: `${burst.served} concurrent short requests were served, although ${burst.sequential} sequential ones had used the key up, and no denial followed`,
      });
    if (parallel === null) {
      if (burst !== null) return;
      return verdict.notApplicable("fresh keys are only available from a provisioning hook or the embedded gateway");
    }
    const { served, atOnce, sequential } = parallel;
    // A daily cap's tally may lag by a minute, and a burst is shorter: an overshoot of the cap is only noted.
    if (state === "cappable") {
      verdict.observe("SPEND-6", { served, atOnce, aFewAtATime: sequential });
      return;
    }
    verdict.should("SPEND-6", served, atMost(Math.max(sequential * 2, sequential + 8)), {
      because: `long streams served of ${atOnce} sent concurrently; ${sequential} were served a few at a time`,
    });
  },
};

export const KEYS_USED_UP: readonly Check[] = [
  defineUsedUp("cappable", "spending.cap-sets-in", setsIn),
  defineUsedUp("cappable", "spending.cap-denied", denialFormat),
  defineUsedUp("cappable", "spending.cap-spellings", spellings),
  defineUsedUp("cappable", "spending.cap-failures-are-free", failuresAreFree),
  defineUsedUp("cappable", "spending.cap-siblings", siblings),
  defineUsedUp("cappable", "spending.cap-overshoot", parallelOvershoot),
  defineUsedUp("childSmall", "spending.budget-sets-in", setsIn),
  defineUsedUp("childSmall", "spending.budget-denied", denialFormat),
  defineUsedUp("childSmall", "spending.budget-spellings", spellings),
  defineUsedUp("childSmall", "spending.budget-failures-are-free", failuresAreFree),
  defineUsedUp("childSmall", "spending.budget-siblings", siblings),
  defineUsedUp("childSmall", "spending.budget-overshoot", parallelOvershoot),
];
