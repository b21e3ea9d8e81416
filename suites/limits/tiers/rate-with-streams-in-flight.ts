import { type Check, defineCheck, type HeldRequest, type Response, type Session } from "../../../src/checks/index.ts";
import { atMost } from "../../../src/judging/index.ts";
import { WINDOW_OVER_MS } from "../../../src/limits/index.ts";
import type { Key } from "../../../src/target/index.ts";
import { isNamedRateDenial, isRateDenial, isServed } from "../denials.ts";
import { RATE_WINDOW_LABEL } from "../paced.ts";
import { abortOnceDecided, longStream } from "../send.ts";
import { fillOnce } from "./concurrency.ts";

/** Streams that are started one after another, each while the previous ones are running. */
const STREAMS = 16;
/** Time between them, ms: half of the growth tier's rate, so that no limiter has a reason to deny for it. */
const SPACING_MS = 120;

/** How long to wait after a denial, plus a margin, ms. */
const MAX_WAIT_MS = 15_000;
const REST_MS = 1_000;

const withOthers = defineCheck({
  id: "limits.rate-with-streams-in-flight",
  basis: "timing",
  title: "A request is not denied by the rate limit because others are in flight",
  covers: ["LIMIT-RATE-3"],
  explains:
    "Sends sixteen long streams on a large tier's account, 120 ms apart: well below its rate limit, but with several in flight at a time. None may be denied by the rate limit. If some are, the same number of requests is sent at the same pace, each after the previous one has ended, and then the streams are sent again. If the concurrent streams are denied both times and the sequential requests are not, the gateway counts requests in flight toward the rate.",
  needs: ["model.stream"],
  // Nothing else may be sent on the account during this, and a load run that follows needs it idle.
  schedule: { order: "exclusive-first" },
  cost: { requests: 3 * STREAMS, waitS: 3 },
  reaches: "tier",
  async run(t) {
    const account = t.target.tiers.growth ?? t.target.tiers.scale;
    if (account === undefined) return NOTHING_SENT;
    // An account that was denied by its rate limit a moment ago may correctly still be denied.
    const filled = await fillOnce(t, t.target.tiers.growth === undefined ? "scale" : "growth");
    const denials = [...filled.held, ...filled.extras].filter(isRateDenial);
    const waitMs = Math.max(0, ...denials.map((denial) => denial.retryAfterWaitMs ?? 0));
    if (waitMs > MAX_WAIT_MS) return NOTHING_SENT;
    if (denials.length > 0) await t.wait(waitMs + REST_MS);
    const first = await sendSpacedStreams(t, account.key);
    if (first.filter(isNamedRateDenial).length <= TOLERATED) return { first, alone: [], second: [] };
    await t.wait(WINDOW_OVER_MS, RATE_WINDOW_LABEL);
    const alone = await sendOneByOne(t, account.key);
    await t.wait(WINDOW_OVER_MS, RATE_WINDOW_LABEL);
    return { first, alone, second: await sendSpacedStreams(t, account.key) };
  },
  judge({ first, alone, second }, verdict) {
    if (first.length === 0) return verdict.notApplicable("the target has no account of the growth or scale tier");
    const denied = first.filter(isNamedRateDenial);
    const deniedAlone = alone.filter(isNamedRateDenial);
    if (denied.length > TOLERATED && deniedAlone.length > 0)
      return verdict.inconclusive(
        `${deniedAlone.length} of ${alone.length} requests at the same pace were denied by the rate limit although no other was in flight: ${deniedAlone[0]?.summary}. Run again when nobody else uses the account`,
      );
    const again = second.filter(isNamedRateDenial);
    if (denied.length > TOLERATED && again.length <= TOLERATED)
      return verdict.inconclusive(
        `${denied.length} of ${first.length} streams were denied by the rate limit the first time, and ${again.length} of ${second.length} the second time`,
      );
    verdict.must("LIMIT-RATE-3", denied.length, atMost(TOLERATED), {
      in: denied[0],
      because: `streams (of ${first.length} started ${SPACING_MS} ms apart) denied by the rate limit (${first.filter(isServed).length} were served; the second time ${again.length} of ${second.length} were denied)`,
    });
  },
});

/** Two requests may arrive closer together than they were sent. */
const TOLERATED = 1;
const NOTHING_SENT: Readonly<Record<"first" | "alone" | "second", readonly Response[]>> = {
  first: [],
  alone: [],
  second: [],
};

async function sendSpacedStreams(t: Session, key: Key): Promise<readonly Response[]> {
  const sent: HeldRequest[] = [];
  for (let index = 0; index < STREAMS; index++) {
    if (index > 0) await t.wait(SPACING_MS);
    sent.push(t.start({ ...longStream(key), freshConnection: false }));
  }
  return abortOnceDecided(t, sent);
}

async function sendOneByOne(t: Session, key: Key): Promise<readonly Response[]> {
  const responses: Response[] = [];
  for (let index = 0; index < STREAMS; index++) {
    if (index > 0) await t.wait(SPACING_MS);
    responses.push(await t.start({ key, intent: "any" }).done);
  }
  return responses;
}

export const RATE_WITH_STREAMS_IN_FLIGHT: readonly Check[] = [withOthers];
