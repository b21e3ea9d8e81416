import { type Check, defineCheck, type Held } from "../../src/checks/index.ts";
import { that } from "../../src/judging/index.ts";
import { leaveStarted } from "./burst.ts";
import { isRateDenial, isServed } from "./limit-denials.ts";
import { longStream } from "./long-stream.ts";
import { fillOnce } from "./tier-concurrency.ts";

/** Streams that begin one after another, each while those before it are running. */
const STREAMS = 16;
/** Between them, ms: half of the growth tier's rate, so that no limiter has a reason to deny for it. */
const SPACING_MS = 120;

/** How long is waited after a denial, and a little more, ms. */
const LONGEST_WAIT_MS = 15_000;
const REST_MS = 1_000;

const withOthers = defineCheck({
  id: "limits.rate-with-streams-in-flight",
  basis: "timing",
  title: "A request is not denied for the rate because others are in flight",
  covers: ["LIMIT-RATE-3"],
  explains:
    "Sixteen long streams on the account of a large tier, 120 ms apart: well below its rate, but several are running at a time. None should be denied for the rate. A warning means that the number in flight is taken for the rate.",
  needs: ["model.stream"],
  // Nothing else may be sent on the account meanwhile; and a load run that follows wants it rested.
  schedule: { order: "exclusive-first" },
  cost: { requests: 16, waitS: 3 },
  async run(t) {
    const account = t.target.tiers.growth ?? t.target.tiers.scale;
    if (account === undefined) return { answers: [] };
    // One that was denied for its rate a moment ago may rightly still be.
    const filled = await fillOnce(t, t.target.tiers.growth === undefined ? "scale" : "growth");
    const denials = [...filled.held, ...filled.extras].filter(isRateDenial);
    const waitMs = Math.max(0, ...denials.map((denial) => denial.retryAfterWaitMs ?? 0));
    if (waitMs > LONGEST_WAIT_MS) return { answers: [] };
    if (denials.length > 0) await t.wait(waitMs + REST_MS);
    const sent: Held[] = [];
    for (let index = 0; index < STREAMS; index++) {
      if (index > 0) await t.wait(SPACING_MS);
      sent.push(t.start({ ...longStream(account.key), freshConnection: false }));
    }
    return { answers: await leaveStarted(t, sent) };
  },
  judge({ answers }, verdict) {
    if (answers.length === 0) return verdict.notApplicable("the target has no account of the growth or scale tier");
    const denied = answers.filter(({ status, reason }) => status === 429 && reason === "rate_limit_exceeded");
    verdict.should(
      "LIMIT-RATE-3",
      denied.length,
      that("at most one", (count) => (count as number) <= 1),
      {
        in: denied[0],
        because: `of ${answers.length} streams that began ${SPACING_MS} ms apart, ${answers.filter(isServed).length} of them served, were denied for the rate`,
      },
    );
  },
});

export const RATE_WITH_STREAMS_IN_FLIGHT: readonly Check[] = [withOthers];
