import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { notSuccess, success } from "../../src/judging/index.ts";
import { isSpendingDenial, LAG_S, pollUntilDenied } from "./drive.ts";

const HOUR_MS = 3_600_000;

/** Requests that use up the smallest cap. */
const UNTIL_CAPPED = 90;

const dayBoundary = defineCheck({
  id: "spending.day-boundary",
  title: "A daily cap resets at 00:00 UTC, and a lifetime budget does not",
  covers: ["SPEND-7", "SPEND-8"],
  explains:
    "On a gateway with an adjustable clock, uses up a key's cap on a new day. The key must still be denied at midnight in other time zones and be served after 00:00 UTC; a child key without budget must still be denied then.",
  needs: ["clock", "key.childExhausted"],
  schedule: { order: "exclusive" },
  cost: { requests: 60 },
  reaches: "spending",
  async run(t) {
    const { clock } = t.fixtures;
    if (clock === undefined) return null;
    const nextDay = (Math.floor((await clock.readClock()) / (24 * HOUR_MS)) + 1) * 24 * HOUR_MS;
    let shifted = 0;
    // The clock keeps running, and on a busy machine a check takes minutes.
    const at = async (ms: number) => {
      const shift = Math.round(ms - (await clock.readClock()));
      shifted += shift;
      await clock.shiftClock(shift);
    };
    const request = { mode: "non-streaming", repeats: false, intent: "any" } as const;
    const otherMidnights: { hour: number; response: Response }[] = [];
    try {
      // A day that begins now: the verdict must not depend on the time of the run.
      await at(nextDay + 300_000);
      const key = await t.fixtures.freshKey("key.cappable");
      if (key === undefined) return null;
      let denial: Response | undefined;
      for (let sent = 0; sent < UNTIL_CAPPED && denial === undefined; sent += t.replyTimes.concurrentRequests) {
        const responses = await Promise.all(
          Array.from({ length: t.replyTimes.concurrentRequests }, () => t.send({ ...request, key })),
        );
        denial = responses.find(isSpendingDenial);
      }
      // The tally of a cap may lag.
      const isCapped =
        denial !== undefined || (await pollUntilDenied(t, { ...request, key }, LAG_S.cappable)).denial !== null;
      for (const hour of [4, 5, 8, 15, 16, 19, 22, 23]) {
        await at(nextDay + hour * HOUR_MS + 300_000);
        otherMidnights.push({ hour, response: await t.send({ ...request, key }) });
      }
      await at(nextDay + 24 * HOUR_MS - 30_000);
      const before = await t.send({ ...request, key });
      const wasBefore = (await clock.readClock()) < nextDay + 24 * HOUR_MS;
      await at(nextDay + 24 * HOUR_MS + 120_000);
      const after = await t.send({ ...request, key });
      const child = await t.send({ ...request, key: "childExhausted" });
      return { isCapped, otherMidnights, before, wasBefore, after, child };
    } finally {
      await clock.shiftClock(-shifted);
    }
  },
  judge(recording, verdict) {
    if (recording === null)
      return verdict.notApplicable("the clock cannot be shifted, or no key can be made for another day");
    const { isCapped, otherMidnights, before, wasBefore, after, child } = recording;
    verdict.assume(isCapped, "the key reached its daily cap");
    for (const { hour, response } of otherMidnights)
      verdict.must("SPEND-7", response.status, notSuccess, {
        in: response,
        at: "status",
        because: `five minutes past ${hour}:00 UTC, the midnight of another zone`,
      });
    if (wasBefore)
      verdict.must("SPEND-7", before.status, notSuccess, {
        in: before,
        at: "status",
        because: "half a minute before 00:00 UTC",
      });
    verdict.must("SPEND-7", after.status, success, {
      in: after,
      at: "status",
      because: "two minutes after 00:00 UTC",
    });
    verdict.must("SPEND-8", child.status, notSuccess, {
      in: child,
      at: "status",
      because: "a lifetime budget after 00:00 UTC",
    });
  },
});

export const DAY_BOUNDARY: readonly Check[] = [dayBoundary];
