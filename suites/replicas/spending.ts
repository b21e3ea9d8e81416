import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import type { MustRequirement } from "../../src/requirements/index.ts";
import { addressesOf, type Key } from "../../src/target/index.ts";
import { isServed } from "../limits/denials.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import { excessText } from "./excess.ts";
import { type KeyChangeResult, pollUntilApplied } from "./keys.ts";

/** A cap's tally may lag by about a minute; a budget or a balance gets the same time, because the specification names none. */
const MAX_PROPAGATION_MS = 90_000;
/** Between two attempts, ms: slow enough that a replica with a separate tally does not reach the cap during the test. */
const POLL_INTERVAL_MS = 6_000;
/** Maximum number of requests until the first address denies the key. */
const MAX_REQUESTS = 120;

/** What one address did after another one had denied the key. */
type OtherAddressResult = {
  readonly address: string;
  readonly served: number;
  readonly last: Response;
  /** From the first denial, ms; `null`: not denied in time. */
  readonly deniedAfterMs: number | null;
};

type SpendRecording = {
  readonly expected: { readonly status: number; readonly readAs: string | undefined };
  /** Whether the new key was served at every address to begin with. */
  readonly known: readonly KeyChangeResult[];
  readonly first: readonly Response[];
  readonly otherAddresses: readonly OtherAddressResult[];
};

/** Uses a key up at one address, and then tries it at the others. */
async function exhaust(t: Session, key: Key, reason: Parameters<typeof expectedDenial>[1]): Promise<SpendRecording> {
  const { status, readAs } = expectedDenial(t, reason);
  const [address = "", ...others] = addressesOf(t.target);
  const request = (at: string): RequestSpec => ({ key, address: at, intent: "any", repeats: false });
  const known = await pollUntilApplied(t, request(address), "created", isServed);
  const first: Response[] = [];
  while (first.length < MAX_REQUESTS && first.every(isServed)) first.push(await t.send(request(address)));
  const startUs = t.nowUs();
  const elapsedMs = () => Math.round((t.nowUs() - startUs) / 1_000);
  const otherAddresses = await Promise.all(
    others.map(async (at): Promise<OtherAddressResult> => {
      for (let served = 0; ; served++) {
        const last = await t.send(request(at));
        if (!isServed(last)) return { address: at, served, last, deniedAfterMs: elapsedMs() };
        if (elapsedMs() > MAX_PROPAGATION_MS) return { address: at, served: served + 1, last, deniedAfterMs: null };
        await t.wait(POLL_INTERVAL_MS, "the spend at one address to count at another");
      }
    }),
  );
  return { expected: { status, readAs }, known, first, otherAddresses };
}

interface SpendCheck {
  readonly id: `replicas.${string}`;
  readonly title: string;
  readonly what: string;
  readonly requirement: MustRequirement;
  readonly reason: Parameters<typeof expectedDenial>[1];
  readonly needs: readonly ("key.cappable" | "key.childSmall" | "manage")[];
  key(t: Session): Promise<Key | undefined>;
}

function spendCheck({ id, title, what, requirement, reason, needs, key }: SpendCheck): Check {
  return defineCheck({
    id,
    title,
    covers: [requirement, "SPEND-14"],
    explains: `Uses up ${what} with requests at one address until it is denied, and then sends a request every few seconds at each other address. All must deny it within ${MAX_PROPAGATION_MS / 1_000} s: a replica that does not count what the others spend serves the same amount again. The report states how many requests were served beyond the limit.`,
    needs: ["addresses", ...needs],
    reaches: needs.includes("manage") ? "made" : "spending",
    cost: {
      requests: (target) =>
        MAX_REQUESTS + addressesOf(target).length * Math.ceil(MAX_PROPAGATION_MS / POLL_INTERVAL_MS + 1),
      waitS: MAX_PROPAGATION_MS / 1_000,
    },
    async run(t) {
      const made = await key(t);
      return made === undefined ? { spent: null } : { spent: await exhaust(t, made, reason) };
    },
    judge({ spent }, verdict) {
      if (spent === null) return verdict.inconclusive("no key could be created for this check");
      const { known, first, otherAddresses, expected } = spent;
      for (const { address, afterMs } of known)
        verdict.assume(afterMs !== null, `the new key was served at ${address}; see replicas.key-changes`);
      const stopped = first.at(-1);
      verdict.assume(
        stopped !== undefined && stopped.status === expected.status && first.length > 1,
        "the key was served, and then denied at one address",
      );
      for (const { address, served, last, deniedAfterMs } of otherAddresses) {
        const limit = first.length - 1 + known.length;
        const excess = excessText({ admitted: served, room: 0, limit, unit: "requests" });
        verdict.must(requirement, deniedAfterMs === null ? last.status : expected.status, expected.status, {
          in: last,
          at: "status",
          because: `at ${address}, ${MAX_PROPAGATION_MS / 1_000} s after another address had denied the key: ${excess}`,
        });
        if (deniedAfterMs === null) continue;
        if (verdict.must(requirement, last.status, expected.status, { in: last, at: "status", because: address }))
          verdict.must(requirement, last.reason, expected.readAs, { in: last, at: "reason", because: address });
        verdict.note("SPEND-14", `${address}: denied after ${deniedAfterMs} ms; ${excess}`, { in: last });
      }
    },
  });
}

/** Enough for about forty of the smallest requests of the embedded gateway. */
const SMALL_MICRO_USD = 4_600;

export const REPLICAS_SPENDING: readonly Check[] = [
  spendCheck({
    id: "replicas.daily-cap",
    title: "A daily cap applies across all addresses",
    what: "a key with a small daily cap",
    requirement: "ERR-402-QUOTA",
    reason: "quota_exceeded",
    needs: ["key.cappable"],
    key: (t) => t.fixtures.freshKey("key.cappable"),
  }),
  spendCheck({
    id: "replicas.lifetime-budget",
    title: "A lifetime budget applies across all addresses",
    what: "a child key with a small lifetime budget",
    requirement: "ERR-429-BUDGET",
    reason: "budget_exhausted",
    needs: ["key.childSmall"],
    key: (t) => t.fixtures.freshKey("key.childSmall"),
  }),
  spendCheck({
    id: "replicas.balance",
    title: "An account's balance is shared by all addresses",
    what: "the balance of an account",
    requirement: "ERR-402-CREDITS",
    reason: "insufficient_credits",
    needs: ["manage"],
    key: async (t) => (await t.fixtures.managed(SMALL_MICRO_USD, t.dialect)).createKey(),
  }),
];
