import { type Check, defineCheck, type RequestSpec, type Response } from "../../../src/checks/index.ts";
import { oneOf } from "../../../src/judging/index.ts";
import { LONG_STORY } from "../../shared/requests/texts.ts";
import { isRateDenial } from "../denials.ts";

/** An upgrade must be in force within this time, ms: after a minute the old limit admits requests again anyway. */
const IN_FORCE_MS = 50_000;
/** Interval between requests that test whether the upgrade is in force, ms. */
const POLL_INTERVAL_MS = 2_000;
/** Requests above the old limit, so that one admitted by chance does not count. */
const EXTRA_STREAMS = 6;

const tierChange = defineCheck({
  id: "limits.tier-change",
  title: "An upgrade takes effect",
  covers: ["LIMIT-CHANGE"],
  explains:
    "An account uses up a small rate limit and is denied. Its limits are raised while the gateway runs. Requests above the old limit should then be admitted, and more concurrent ones than the old concurrency limit, without a restart and before the old limit would admit requests again; the report says how long it took. Not applicable where only the operator can raise limits.",
  needs: ["upgrade", "model.stream"],
  schedule: { resource: "upgraded account" },
  cost: { requests: 30 },
  reaches: "made",
  async run(t) {
    const { key, before, upgrade } = await t.fixtures.upgradable(t.dialect);
    const request = { key, intent: "any", repeats: false } as const;
    const used: Response[] = [];
    // If a window ends meanwhile, it admits as many again.
    while (used.length <= 2 * before.rpm && used.at(-1)?.status !== 429) used.push(await t.send(request));
    const startedUs = t.nowUs();
    await upgrade();
    let response = await t.send(request);
    while (!response.admitted && (t.nowUs() - startedUs) / 1_000 < IN_FORCE_MS) {
      await t.wait(POLL_INTERVAL_MS, "an upgrade to take effect");
      response = await t.send(request);
    }
    const afterMs = Math.round((t.nowUs() - startedUs) / 1_000);
    const stream: RequestSpec = { ...request, model: "stream", mode: "streaming", prompt: LONG_STORY };
    const together = await Promise.all(
      Array.from({ length: before.inFlight + EXTRA_STREAMS }, () => t.start(stream).done),
    );
    return { denied: used.at(-1) as Response, response, afterMs, together };
  },
  judge({ denied, response, afterMs, together }, verdict) {
    if (denied.status !== 429) verdict.inconclusive(`the account was not denied before: ${denied.summary}`);
    const status = oneOf(200);
    const seen = { in: response, at: "status", because: `${Math.round(afterMs / 1_000)} s after the upgrade` };
    if (!verdict.should("LIMIT-CHANGE", response.status, status, seen)) return;
    // A limiter that requires evenly spaced requests denies some concurrent ones, whatever its limit.
    for (const one of together.filter((response) => !isRateDenial(response)))
      verdict.should("LIMIT-CHANGE", one.status, status, {
        in: one,
        at: "status",
        because: "streams in flight together",
      });
    verdict.note("LIMIT-CHANGE", `in force after ${afterMs} ms`, { in: response });
  },
});

export const TIER_CHANGE: readonly Check[] = [tierChange];
