import {
  type Check,
  defineCheck,
  defineStepScenario,
  type LimitedAccount,
  limitedFor,
  type Response,
  type Session,
  scheduleOn,
} from "../../src/checks/index.ts";
import { atMost } from "../../src/judging/index.ts";
import { addressesOf } from "../../src/target/index.ts";
import { type Burst, burst } from "../limits/burst.ts";
import { admittedIn, isRateDenial, isServed } from "../limits/denials.ts";
import { isBracketed, type WhileDenied } from "../limits/rate/while-denied.ts";
import { excessText } from "./excess.ts";

/** A wait that takes longer is not tried, ms. */
const MAX_WAIT_MS = 65_000;
/** Pause after which requests of other checks no longer count toward the limit, ms. */
const QUIET_MS = 61_000;
/** Share of the limit that the first address must have admitted, so that the rest of the window is known. */
const USED_SHARE = 0.8;
/** Requests beyond the limit that are tried at another address. */
const EXTRA_REQUESTS = 4;
/** After the end of a wait, ms. */
const MARGIN_MS = 100;

type RateRecording = {
  readonly rpm: number;
  /** At the first address, up to its denial. */
  readonly first: Burst;
  /** At each other address, while the first one denied the account. */
  readonly otherAddresses: readonly WhileDenied[];
  /** The shortest wait that an address stated, tried at another one. */
  readonly wait: { readonly denial: Response; readonly waitMs: number; readonly retried: Response } | null;
};

interface RateRun {
  readonly t: Session;
  readonly account: LimitedAccount;
  readonly addresses: readonly string[];
}

/** The rate limit of one account at all addresses. */
const rateScenario = defineStepScenario<RateRun, RateRecording>({
  id: "replicas.rate",
  needs: ["addresses", "limited.rate"],
  reaches: "rate",
  schedule: (target) => scheduleOn(limitedFor(target, "rate")),
  begin: (t) => {
    const account = t.limited("rate");
    return {
      shared: { t, account, addresses: addressesOf(t.target) },
      recording: {
        rpm: account.limits.rpm,
        first: { what: "", responses: [], seconds: 0 },
        otherAddresses: [],
        wait: null,
      },
    };
  },
  steps: [
    {
      name: "first",
      cost: { requests: (target) => 4 * (limitedFor(target, "rate")?.limits.rpm ?? 0), waitS: QUIET_MS / 1_000 },
      async run(run) {
        const first = await fill(run);
        if (admittedIn(first.responses) >= run.account.limits.rpm * USED_SHARE) return first;
        // Other checks have used the account: the count of each address must begin at the same time.
        await run.t.wait(QUIET_MS, "the rate window of the account to be empty");
        return fill(run);
      },
    },
    {
      name: "otherAddresses",
      dependsOn: "first",
      cost: {
        requests: (target) =>
          (addressesOf(target).length - 1) * ((limitedFor(target, "rate")?.limits.rpm ?? 0) + EXTRA_REQUESTS + 2),
      },
      async run({ t, account: { key, limits }, addresses }) {
        const [first = "", ...others] = addresses;
        const tried: WhileDenied[] = [];
        for (const address of others) {
          const startUs = t.nowUs();
          const before = await plainAt(t, key, first);
          const tries: Response[] = [];
          while (tries.length < limits.rpm + EXTRA_REQUESTS && !tries.some(isRateDenial))
            tries.push(await plainAt(t, key, address));
          const after = await plainAt(t, key, first);
          tried.push({ kind: address, before, tries, after, seconds: (t.nowUs() - startUs) / 1_000_000 });
        }
        return tried;
      },
    },
    {
      name: "wait",
      dependsOn: "otherAddresses",
      onlyInFullRun: true,
      cost: { requests: 1, waitS: MAX_WAIT_MS / 1_000 },
      async run({ t, account: { key }, addresses }, { otherAddresses }) {
        const [first = ""] = addresses;
        const denials = otherAddresses
          .flatMap(({ kind, tries, after }) => [
            ...tries.filter(isRateDenial).map((denial) => ({ denial, retryAt: first })),
            { denial: after, retryAt: kind },
          ])
          .filter(({ denial }) => denial.retryAfterWaitMs !== undefined);
        const endsMs = ({ denial }: { denial: Response }) => denial.arrivedAtMs + (denial.retryAfterWaitMs ?? 0);
        const [soonest] = denials.sort((one, other) => endsMs(one) - endsMs(other));
        const waitMs = soonest?.denial.retryAfterWaitMs;
        if (soonest === undefined || waitMs === undefined || waitMs > MAX_WAIT_MS) return null;
        await t.wait(Math.max(0, endsMs(soonest) - Date.now()) + MARGIN_MS, "a Retry-After of another replica");
        return { denial: soonest.denial, waitMs, retried: await plainAt(t, key, soonest.retryAt) };
      },
    },
  ],
});

const plainAt = (t: Session, key: LimitedAccount["key"], address: string): Promise<Response> =>
  t.start({ key, address, intent: "any" }).done;

function fill({ t, account: { key, limits }, addresses: [address = ""] }: RateRun): Promise<Burst> {
  return burst(t, { what: address, specs: [{ key, address }], most: limits.rpm * 2, parallel: 2 });
}

const rateTogether = defineCheck({
  id: "replicas.rate",
  scenario: rateScenario,
  basis: "timing",
  title: "An account's rate limit applies across all addresses",
  covers: ["LIMIT-1", "LIMIT-RATE-8"],
  explains:
    "Sends at one address until the account is denied, then at each other address, and confirms that the first still denies it. The others must deny it too: the limit is the account's, not the replica's. If each replica counts separately, the limit is multiplied by the number of replicas; the report says by how many requests it was exceeded.",
  judge({ first, otherAddresses, rpm }, verdict) {
    verdict.assume(
      otherAddresses.length > 0 && first.responses.some(isRateDenial),
      "the account reached its rate limit",
    );
    for (const entry of otherAddresses) {
      if (!isBracketed(entry)) verdict.inconclusive(`the first address admitted the account again during the test`);
      const admitted = entry.tries.filter(isServed);
      // Capacity that becomes free in between may go to any request.
      const room = 1 + Math.floor((entry.seconds * rpm) / 60);
      const excess = excessText({ admitted: admitted.length, room, limit: rpm, unit: "requests" });
      if (admitted.length <= room && !entry.tries.some(isRateDenial)) {
        verdict.markUndecided("inconclusive", `${entry.kind} neither served nor denied the requests`);
        continue;
      }
      verdict.must("LIMIT-1", admitted.length, atMost(room), {
        in: admitted[0] ?? entry.tries[0],
        because: `served at ${entry.kind} while the account was denied at another address: ${excess}`,
      });
      verdict.note("LIMIT-RATE-8", `${entry.kind}: ${excess}`, { in: entry.tries[0] });
    }
  },
});

const retryAtOtherAddress = defineCheck({
  id: "replicas.retry-after",
  scenario: rateScenario,
  basis: "timing",
  title: "The Retry-After of one replica is sufficient at the others",
  covers: ["LIMIT-RATE-6"],
  explains:
    "After the account was denied at every address, waits for the shortest Retry-After, then sends to a different address than the one that sent it, as a client behind a load balancer would. A warning means that a replica computes Retry-After from its own window.",
  judge({ wait, otherAddresses }, verdict) {
    verdict.assume(otherAddresses.length > 0, "the account reached its rate limit");
    if (wait === null) return verdict.inconclusive("no address sent a usable Retry-After of at most 65 s");
    if (!isServed(wait.retried) && !isRateDenial(wait.retried))
      return verdict.inconclusive(`the request after the wait was neither served nor denied: ${wait.retried.summary}`);
    verdict.should("LIMIT-RATE-6", isRateDenial(wait.retried), false, {
      in: wait.retried,
      also: [wait.denial],
      because: `after the stated wait of ${wait.waitMs} ms, at another address: ${wait.retried.summary}`,
    });
  },
});

export const REPLICAS_RATE: readonly Check[] = [rateTogether, retryAtOtherAddress];
