import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";

/** Keys that are stopped for good, and the denial that they get. */
const STOPPED = {
  capped: "quota_exceeded",
  childExhausted: "budget_exhausted",
  empty: "insufficient_credits",
  revoked: "key_revoked",
} as const;
type Stopped = keyof typeof STOPPED;

const DAY_MS = 86_400_000;
/** A cap that ended with the UTC day this long ago may have been met earlier in this run, ms. */
const NEW_DAY_MS = 3_600_000;
/** A gateway's clock may be ahead of this machine's by this much, ms. */
const AHEAD_MS = 600_000;

/** A key at the end of the run. */
type Late = { readonly key: Stopped; readonly response: Response; readonly status: number };

const stillDenied = defineCheck({
  id: "spending.still-denied",
  title: "A denied key is still denied at the end of the run",
  covers: ["SPEND-7", "SPEND-8", "SPEND-2", "AUTH-4"],
  explains:
    "At the end of the run, a minute or more after the first denials, each denied key is tried once more in both dialects: at its daily cap (but not around the start of a UTC day, which resets it), at its lifetime budget, without balance, revoked. None may be served. A failure means that states are forgotten after a while.",
  schedule: { order: "exclusive" },
  cost: { requests: 8 },
  async run(t) {
    const late: Late[] = [];
    for (const key of Object.keys(STOPPED) as Stopped[]) {
      if (t.target.keys[key] === undefined) continue;
      const { status } = expectedDenial(t, STOPPED[key]);
      for (const endpoint of t.dialects)
        late.push({ key, status, response: await t.send({ key, endpoint, intent: "denied", repeats: false }) });
    }
    return { late };
  },
  judge({ late }, verdict) {
    for (const { key, response, status } of late) {
      if (key === "capped" && (response.arrivedAtMs + AHEAD_MS) % DAY_MS < AHEAD_MS + NEW_DAY_MS) continue;
      const seen = { in: response, at: "status", because: `${key}, at the end of the run` };
      if (key === "capped") verdict.must("SPEND-7", response.status, status, seen);
      else if (key === "childExhausted") verdict.must("SPEND-8", response.status, status, seen);
      else if (key === "empty") verdict.must("SPEND-2", response.status, status, seen);
      else verdict.must("AUTH-4", response.status, status, seen);
    }
    if (verdict.findings.length === 0) verdict.notApplicable("the target has no key that must be denied");
  },
});

export const STILL_DENIED: readonly Check[] = [stillDenied];
