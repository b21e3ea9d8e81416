import { InternalError, isObject } from "../core/index.ts";
import { Key } from "./key.ts";
import type { Provisioner } from "./provisioner.ts";
import { TIERS as TIER_LIMITS, type Tier } from "./schema.ts";
import type { Account, Limits } from "./target.ts";

/** The operator's side of the embedded gateway. */
export interface Admin {
  readonly url: string;
  readonly token: Key;
}

/** The embedded gateway's states, made through its admin interface. */
export function embeddedProvisioner(admin: Admin, valid: Key): Provisioner {
  let made = 0;
  const accountId = once(async () =>
    String((await call(admin, "POST", "/keys/find", { key: valid.reveal() }))["account"]),
  );
  return {
    attestation: "embedded",
    async fresh(state) {
      const terms = TERMS[state];
      if (terms === undefined) return undefined;
      const answer = await call(admin, "POST", "/keys", { account: await accountId(), ...terms });
      return new Key(`made.${state}.${++made}`, String(answer["key"]));
    },
    async loadAccounts() {
      const accounts = await Promise.all(
        TIERS.map(async ([tier, limits]) => [tier, await loadAccount(admin, tier, limits)]),
      );
      return Object.fromEntries(accounts);
    },
    async shiftClock(ms) {
      await call(admin, "POST", "/clock", { shiftWallMs: ms });
    },
    async readClock() {
      return Number((await call(admin, "GET", "/clock"))["nowMs"]);
    },
  };
}

/** Enough for about forty of the smallest requests at the gateway's prices. */
const SMALL_MICRO_USD = 4_600;

const TIERS = Object.entries(TIER_LIMITS) as [Tier, Limits][];
/** Enough for any load. */
const AMPLE_MICRO_USD = 1_000_000_000;

/** An account of a tier with two keys. They are named like those of the target's own account, whose place they take. */
async function loadAccount(admin: Admin, tier: Tier, limits: Limits): Promise<Account> {
  const terms = { name: `load ${tier}`, tier, balanceMicroUsd: AMPLE_MICRO_USD };
  const { id } = await call(admin, "POST", "/accounts", terms);
  const key = async (name: string) =>
    new Key(`tiers.${tier}.${name}`, String((await call(admin, "POST", "/keys", { account: id }))["key"]));
  return { key: await key("key"), second: await key("second"), limits };
}

const TERMS: Readonly<Record<string, Record<string, number>>> = {
  "key.cappable": { capMicroUsd: SMALL_MICRO_USD },
  "key.childSmall": { budgetMicroUsd: SMALL_MICRO_USD },
};

async function call(
  admin: Admin,
  method: "GET" | "POST",
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  // Loaded when first used: commands that make no states should not wait for it.
  const { request } = await import("undici");
  const { statusCode, body: answer } = await request(admin.url + path, {
    method,
    headers: { authorization: `Bearer ${admin.token.reveal()}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const json: unknown = await answer.json();
  if (statusCode >= 300 || !isObject(json))
    throw new InternalError(`the embedded gateway refused ${method} ${path}: ${statusCode}`);
  return json;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
