import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { DENIED_KEYS } from "../../src/requirements/index.ts";
import { addressesOf } from "../../src/target/index.ts";
import { isServed } from "../limits/denials.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";

/** A change of a key should be known everywhere within this time, ms. */
const MAX_PROPAGATION_MS = 60_000;
const POLL_INTERVAL_MS = 500;
const AMPLE_MICRO_USD = 1_000_000_000;

const CHANGES = ["created", "cap removed", "revoked"] as const;

/** When a change of a key took effect at one address. */
export type KeyChangeResult = {
  readonly change: (typeof CHANGES)[number];
  readonly address: string;
  /** From the end of the change, ms; `null`: not in time. */
  readonly afterMs: number | null;
  readonly last: Response;
};

/** Tries a key at every address until a change has taken effect there. */
export function pollUntilApplied(
  t: Session,
  request: RequestSpec,
  change: KeyChangeResult["change"],
  isApplied: (response: Response) => boolean,
): Promise<KeyChangeResult[]> {
  const startUs = t.nowUs();
  return Promise.all(
    addressesOf(t.target).map(async (address) => {
      for (;;) {
        const last = await t.start({ ...request, address }).done;
        const afterMs = Math.round((t.nowUs() - startUs) / 1_000);
        if (isApplied(last)) return { change, address, afterMs, last };
        if (afterMs > MAX_PROPAGATION_MS) return { change, address, afterMs: null, last };
        await t.wait(POLL_INTERVAL_MS, "a key change to reach every address");
      }
    }),
  );
}

const changesAreKnown = defineCheck({
  id: "replicas.key-changes",
  title: "A created or revoked key, or a removed cap, takes effect at every address",
  covers: ["REPLICA-KEYS", "AUTH-4"],
  explains:
    "Creates a key whose daily cap is used up, removes the cap, and revokes the key, and tries it at every address after each change. The report says how long each address took. The specification does not say how long that may be: more than a minute, or never, is a warning. Not applicable where only the operator can create keys.",
  needs: ["addresses", "manage"],
  reaches: "made",
  cost: {
    requests: (target) =>
      addressesOf(target).length * CHANGES.length * Math.ceil(MAX_PROPAGATION_MS / POLL_INTERVAL_MS / 10),
    waitS: MAX_PROPAGATION_MS / 1_000,
  },
  async run(t) {
    const account = await t.fixtures.managed(AMPLE_MICRO_USD, t.dialect);
    const key = await account.createKey({ capMicroUsd: 0 });
    const request = { key, intent: "any", repeats: false } as const;
    const capped = expectedDenial(t, "quota_exceeded");
    const revoked = expectedDenial(t, "key_revoked");
    const created = await pollUntilApplied(
      t,
      request,
      "created",
      ({ status, reason }) => status === capped.status && reason === capped.readAs,
    );
    await account.removeCap(key);
    const raised = await pollUntilApplied(t, request, "cap removed", isServed);
    await account.revoke(key);
    const denied = await pollUntilApplied(
      t,
      request,
      "revoked",
      ({ status, reason }) => status === revoked.status && reason === revoked.readAs,
    );
    return { known: [...created, ...raised, ...denied] };
  },
  judge({ known }, verdict) {
    const first = known.filter(({ afterMs }) => afterMs !== null);
    verdict.assume(first.length > 0, "at least one address applied a change of the key");
    for (const { change, address, afterMs, last } of known) {
      const seen = { in: last, because: `a key that was ${change}, at ${address}: ${last.summary}` };
      verdict.should("REPLICA-KEYS", afterMs !== null, true, seen);
      const requirement = change === "revoked" ? "AUTH-4" : "REPLICA-KEYS";
      if (afterMs !== null) verdict.note(requirement, `${change}: known at ${address} after ${afterMs} ms`, seen);
    }
  },
});

const statesAgree = defineCheck({
  id: "replicas.key-states",
  title: "Every address gives the same response to a key",
  covers: ["AUTH-1", ...DENIED_KEYS.map(({ requirement }) => requirement)],
  explains:
    "Tries each key of the target file at every address: a valid key must be served, and a revoked, capped or exhausted one denied for the same reason, whichever replica gets the request.",
  needs: ["addresses"],
  cost: { requests: (target) => addressesOf(target).length * (1 + DENIED_KEYS.length) },
  async run(t) {
    const addresses = addressesOf(t.target);
    const served = await Promise.all(addresses.map((address) => t.send({ address })));
    const denied: { key: string; reason: string | undefined; status: number; response: Response }[] = [];
    for (const { name: key, reason } of DENIED_KEYS) {
      if (t.target.keys[key] === undefined) continue;
      const { status, readAs } = expectedDenial(t, reason);
      for (const address of addresses)
        denied.push({
          key,
          status,
          reason: readAs,
          response: await t.send({ key, address, intent: "denied", repeats: false }),
        });
    }
    return { served, denied };
  },
  judge({ served, denied }, verdict) {
    const control = served.find(({ admitted }) => admitted) ?? served[0];
    if (control !== undefined) verdict.requireControl(control, "a request with the valid key at one address");
    for (const response of served) {
      const at = new URL(response.exchange.request.url).host;
      verdict.must("AUTH-1", response.status, 200, { in: response, at: "status", because: `the valid key at ${at}` });
    }
    for (const { key, status, reason, response } of denied) {
      const requirement = DENIED_KEYS.find(({ name }) => name === key)?.requirement;
      if (requirement === undefined) continue;
      const because = `${key}, at ${new URL(response.exchange.request.url).host}`;
      if (verdict.must(requirement, response.status, status, { in: response, at: "status", because }))
        verdict.must(requirement, response.reason, reason, { in: response, at: "reason", because });
    }
  },
});

export const REPLICAS_KEYS: readonly Check[] = [statesAgree, changesAreKnown];
