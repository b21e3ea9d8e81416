import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { DENIED_KEYS, type DeniedKey, denialOfKey } from "../../src/requirements/index.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";

const DAY_MS = 86_400_000;
/** A cap that ended with the UTC day this long ago may have been met earlier in this run, ms. */
const NEW_DAY_MS = 3_600_000;
/** A gateway's clock may be ahead of this machine's by this much, ms. */
const AHEAD_MS = 600_000;

/** A key at the end of the run. */
type Late = { readonly key: DeniedKey; readonly response: Response; readonly status: number };

const stillDenied = defineCheck({
  id: "spending.still-denied",
  title: "A denied key is still denied at the end of the run",
  covers: DENIED_KEYS.map(({ requirement }) => requirement),
  explains:
    "At the end of the run, a minute or more after the first denials, each denied key is tried once more in both dialects: at its daily cap (but not around the start of a UTC day, which resets it), at its lifetime budget, without balance, revoked. None may be served. A failure means that states are forgotten after a while.",
  schedule: { order: "exclusive" },
  cost: { requests: 8 },
  async run(t) {
    const late: Late[] = [];
    for (const { name: key, reason } of DENIED_KEYS) {
      if (t.target.keys[key] === undefined) continue;
      const { status } = expectedDenial(t, reason);
      for (const endpoint of t.target.dialects)
        late.push({ key, status, response: await t.send({ key, endpoint, intent: "denied", repeats: false }) });
    }
    return { late };
  },
  judge({ late }, verdict) {
    for (const { key, response, status } of late) {
      if (key === "capped" && (response.arrivedAtMs + AHEAD_MS) % DAY_MS < AHEAD_MS + NEW_DAY_MS) continue;
      const because = `${key}, at the end of the run`;
      verdict.must(denialOfKey(key).requirement, response.status, status, { in: response, at: "status", because });
    }
    if (verdict.findings.length === 0) verdict.notApplicable("the target has no key that must be denied");
  },
});

export const STILL_DENIED: readonly Check[] = [stillDenied];
