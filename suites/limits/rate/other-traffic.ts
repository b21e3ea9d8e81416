import {
  type Check,
  defineCheck,
  limitedFor,
  type Response,
  type Session,
  scheduleOn,
} from "../../../src/checks/index.ts";
import { atMost } from "../../../src/judging/index.ts";
import { WINDOW_OVER_MS } from "../../../src/limits/index.ts";
import type { Key } from "../../../src/target/index.ts";
import { isRateDenial, isServed } from "../denials.ts";
import { RATE_WINDOW_LABEL, untilQuiet } from "../paced.ts";

/** Requests on the other account, as a multiple of this account's rate limit: more than any of its windows admits. */
const MULTIPLE = 1.5;
/** Requests on the quiet account after them, further apart than a limiter without burst requires. */
const TRIES = 3;
const SPACING = 1.1;
/** Rate limits that admit the requests of the quiet account and that another account exceeds with few requests. */
const RPM = { min: 8, max: 400 };
const CONCURRENCY = 4;

type Round = {
  /** The quiet account, before the other one sends. */
  readonly before: Response;
  readonly others: readonly Response[];
  readonly after: readonly Response[];
};

const otherTraffic = defineCheck({
  id: "limits.rate-other-traffic",
  title: "Another account's traffic does not count toward this account's rate",
  covers: ["LIMIT-1", "LIMIT-RATE-3"],
  explains:
    "While one account is quiet, an account with a larger limit sends more requests than the quiet one may send in a minute. The quiet account then sends a few requests, far apart, which must not be denied by the rate limit, because limits belong to accounts. If all of them are denied, the check is repeated after a quiet minute.",
  needs: ["limited.rate"],
  schedule: (target) => scheduleOn(limitedFor(target, "rate")),
  cost: {
    requests: (target) => Math.ceil((limitedFor(target, "rate")?.limits.rpm ?? 0) * MULTIPLE) + TRIES + 1,
    waitS: 10,
  },
  reaches: "rate",
  async run(t) {
    const { key, limits, shared } = t.limited("rate");
    const other =
      shared || limits.rpm < RPM.min || limits.rpm > RPM.max
        ? undefined
        : largerAccount(t, limits.rpm * MULTIPLE * 1.5);
    if (other === undefined || t.run.isQuick) return { rounds: [] };
    const send = () => sendRound(t, { key, rpm: limits.rpm }, { key: other, count: Math.ceil(limits.rpm * MULTIPLE) });
    // Checks that run after the parallel ones use the time until the window is over.
    await t.afterOthers();
    await untilQuiet(t, key);
    const first = await send();
    if (!isDeniedFor(first)) return { rounds: [first] };
    await t.wait(WINDOW_OVER_MS, RATE_WINDOW_LABEL);
    return { rounds: [first, await send()] };
  },
  judge({ rounds }, verdict) {
    const [first] = rounds;
    const last = rounds.at(-1);
    if (first === undefined || last === undefined)
      return verdict.notApplicable(
        "a quick run, or no account with a limit much larger than that of the account set aside",
      );
    if (!rounds.every(({ before }) => isServed(before)))
      return verdict.inconclusive(
        `the quiet account was not served before the other one sent: ${first.before.summary}`,
      );
    const { others, after } = last;
    const served = others.filter(isServed).length;
    if (rounds.length > 1 && !isDeniedFor(last))
      return verdict.inconclusive(
        "the quiet account was denied by its rate limit after another account's traffic the first time, but not the second time",
      );
    const denied = after.filter(isRateDenial);
    const seen = {
      in: denied[0],
      because: `requests (of ${after.length}) of a quiet account denied by the rate limit after another account had ${served} requests served`,
    };
    verdict.must("LIMIT-1", denied.length, atMost(after.length - 1), seen);
    verdict.must("LIMIT-RATE-3", denied.length, atMost(after.length - 1), seen);
  },
});

/** A key of the account with the highest rate limit, if it is at least `rpm`. */
function largerAccount(t: Session, rpm: number): Key | undefined {
  const { keys, limits, tiers } = t.target;
  const known = [...(limits === undefined ? [] : [{ key: keys.valid, limits }]), ...Object.values(tiers)];
  return known.filter((account) => account.limits.rpm >= rpm).sort((a, b) => b.limits.rpm - a.limits.rpm)[0]?.key;
}

async function sendRound(
  t: Session,
  { key, rpm }: { readonly key: Key; readonly rpm: number },
  other: { readonly key: Key; readonly count: number },
): Promise<Round> {
  const quiet = { key, intent: "any", repeats: false } as const;
  const first = await t.start(quiet).done;
  // A provider may fail once.
  const before = isServed(first) || isRateDenial(first) ? first : await t.start(quiet).done;
  const others: Response[] = [];
  while (others.length < other.count) {
    const more = Math.min(CONCURRENCY, other.count - others.length);
    others.push(...(await Promise.all(Array.from({ length: more }, () => t.send({ key: other.key, intent: "any" })))));
  }
  const after: Response[] = [];
  for (let count = 0; count < TRIES; count++) {
    if (count > 0) await t.wait((SPACING * 60_000) / rpm);
    after.push(await t.start(quiet).done);
  }
  return { before, others, after };
}

const isDeniedFor = ({ after }: Round): boolean => after.every(isRateDenial);

export const OTHER_TRAFFIC: readonly Check[] = [otherTraffic];
