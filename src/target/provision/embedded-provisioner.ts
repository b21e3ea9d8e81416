import { InternalError } from "../../core/index.ts";
import { TIERS as TIER_LIMITS, type Tier } from "../file/tiers.ts";
import { Key } from "../key.ts";
import type { Account, Limits } from "../target.ts";
import { callControl } from "./control-interface.ts";
import type { Provisioner } from "./provisioner.ts";

/** The admin interface of the embedded gateway. */
export interface Admin {
  readonly url: string;
  readonly token: Key;
}

/** States of the embedded gateway, created through its admin interface. */
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
      const created = await call(admin, "POST", "/keys", { account: await accountId(), ...terms });
      return new Key(`made.${state}.${++made}`, String(created["key"]));
    },
    async loadAccounts() {
      const accounts = await Promise.all(
        TIERS.map(async ([tier, limits]) => [tier, await loadAccount(admin, tier, limits)]),
      );
      return Object.fromEntries(accounts);
    },
    async upgradable() {
      const terms = { name: "upgraded", limits: SMALL, balanceMicroUsd: AMPLE_MICRO_USD };
      const { id } = await call(admin, "POST", "/accounts", terms);
      const { key } = await call(admin, "POST", "/keys", { account: id });
      return {
        key: new Key(`made.upgraded.${++made}`, String(key)),
        before: SMALL,
        after: TIER_LIMITS.starter,
        async upgrade() {
          await call(admin, "PATCH", `/accounts/${String(id)}`, { tier: "starter" });
        },
      };
    },
    async managed(balanceMicroUsd) {
      const { id: account } = await call(admin, "POST", "/accounts", {
        name: "managed",
        limits: MANAGED,
        balanceMicroUsd,
      });
      const ids = new Map<string, string>();
      const change = (key: Key, terms: object) => call(admin, "PATCH", `/keys/${ids.get(key.name) ?? ""}`, terms);
      return {
        async createKey(terms = {}) {
          const { key, id } = await call(admin, "POST", "/keys", { account, ...terms });
          const one = new Key(`made.managed.${++made}`, String(key));
          ids.set(one.name, String(id));
          return one;
        },
        async removeCap(key) {
          await change(key, { capMicroUsd: null });
        },
        async revoke(key) {
          await change(key, { revoked: true });
        },
      };
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
/** Used up by a few requests. */
const SMALL: Limits = { rpm: 8, inFlight: 2 };
/** Not reached by checks of keys. */
const MANAGED: Limits = { rpm: 6_000, inFlight: 64 };
/** Enough for any load. */
const AMPLE_MICRO_USD = 1_000_000_000;

/** An account of a tier with two keys. They are named like those of the target's own account, which they replace. */
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

function call({ url, token }: Admin, method: "GET" | "POST" | "PATCH", path: string, body?: object) {
  const failure = (what: string, cause?: unknown) => new InternalError(`the embedded gateway: ${what}`, { cause });
  return callControl({ url, token, failure }, method, path, body);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
