import { stringify } from "yaml";
import { DIALECTS, type Dialect } from "../dialects/index.ts";
import type { Attestation } from "../record/index.ts";
import type { KeyName, ModelRole, Target } from "../target/index.ts";
import { limitedFor, mayReachAnyLimit } from "./limited-account.ts";
import { type Need, notServed } from "./need.ts";
import { MAX_TOKENS, MIN_RPM, tokenLimitedFor } from "./token-limited-account.ts";

/** Whether a need is met, and how its state is attested; or the lines of the target file that would meet it. */
export type Fixture =
  | { readonly ok: true; readonly attestation: Attestation }
  | {
      readonly ok: false;
      readonly unblock: readonly string[];
      readonly skipped?: string;
      /** Why the file's entry does not meet it. */
      readonly because?: string;
    };

const ENVIRONMENT_NAMES: Readonly<Partial<Record<KeyName, string>>> = {
  second: "GW_KEY_2",
  revoked: "GW_REVOKED",
  capped: "GW_CAPPED",
  cappable: "GW_CAPPABLE",
  childExhausted: "GW_CHILD",
  childSmall: "GW_CHILD_SMALL",
  empty: "GW_EMPTY",
  emptySecond: "GW_EMPTY_2",
  other: "GW_OTHER",
};

/**
 * Looks up a state in the target file.
 *
 * @param dialect of the check, for models: a gateway may serve one in one dialect only.
 */
export function staticFixture(need: Need, target: Target, dialect: Dialect): Fixture {
  const skipped = target.skip[need];
  if (skipped !== undefined) return { ok: false, unblock: [], skipped };
  const by = target.source === "embedded" ? ("embedded" as const) : ("asserted" as const);
  const when = (there: boolean): Fixture =>
    there
      ? { ok: true, attestation: { state: need, by } }
      : { ok: false, unblock: unblockLines(need, target, dialect) };
  const [kind, name = ""] = need.split(".");
  switch (kind) {
    case "key":
      return when(target.keys[name as KeyName] !== undefined);
    case "model":
      return when(target.models[dialect][name as ModelRole] !== undefined);
    case "limits":
      return when(target.limits !== undefined);
    case "compat":
      return target.compat[name as "chat" | "messages"] === "none"
        ? { ok: false, unblock: [], skipped: "the target does not request compat checks for it" }
        : when(true);
    case "dialect":
      return target.dialects.includes(name as Dialect)
        ? when(true)
        : { ok: false, unblock: [], skipped: notServed(target.dialects) };
    case "upstream":
      if (name === "failover" && target.upstream !== undefined && target.upstream.failover.length < 2)
        return { ok: false, unblock: [], skipped: "the target declares no failover (upstream.failover)" };
      return when(target.upstream !== undefined);
    case "tiers":
      // Only a gateway that sells the standard tiers has such accounts: their absence is not a gap.
      return Object.keys(target.tiers).length > 0
        ? when(true)
        : { ok: false, unblock: [], skipped: "the target has no account of a tier" };
    case "tokenLimits":
      return tokenLimitsFixture(target, when(true));
    case "upgrade":
      return target.source === "embedded"
        ? when(true)
        : { ok: false, unblock: [], skipped: "limits can be raised during a run only on the embedded gateway" };
    case "clock":
      // The clock of a production gateway cannot be shifted: an operator cannot add this state.
      return target.source === "embedded"
        ? when(true)
        : { ok: false, unblock: [], skipped: "the clock can be shifted only on the embedded gateway" };
    default:
      return accountFixture(need, target, when(hasAccount(need, target)));
  }
}

/**
 * The account for a kind of limit. If it is missing only because the account of `valid` must not be used, the fixture says so.
 */
function accountFixture(need: Need, target: Target, met: Fixture): Fixture {
  if (met.ok || mayReachAnyLimit(target) || !hasAccount(need, { ...target, authorized: true })) return met;
  return { ...met, because: NOT_ASIDE };
}

/** The declared token limit, with an account on which it can be reached. */
function tokenLimitsFixture(target: Target, met: Fixture): Fixture {
  const { tokenLimits } = target;
  if (tokenLimits === undefined)
    return { ok: false, unblock: [], skipped: "the target declares no token limit (tokenLimits)" };
  const account = tokenLimitedFor(target);
  if (account === undefined) return { ok: false, unblock: ["tokenLimits:", `  key: ${TOKEN_KEY}`] };
  if (!account.isAside && !mayReachAnyLimit(target))
    return { ok: false, unblock: ["tokenLimits:", `  key: ${TOKEN_KEY}`], because: NOT_ASIDE };
  const rpm = account.limits?.rpm ?? Number.POSITIVE_INFINITY;
  const { tokensPerMinute } = tokenLimits;
  const because =
    rpm < MIN_RPM
      ? `its account allows ${rpm} requests per minute, and reaching the limit takes up to ${MIN_RPM}`
      : `tokenLimits.tokensPerMinute is ${tokensPerMinute}, and a run reaches ${MAX_TOKENS} at most: set a key with a smaller limit aside`;
  return rpm < MIN_RPM || tokensPerMinute > MAX_TOKENS ? { ok: false, unblock: [], because } : met;
}

const NOT_ASIDE =
  "only the account of keys.valid has it, and a check must not reach its limits without authorized: true";
const TOKEN_KEY = "env:GW_TOKEN_LIMITED";

function modelLine(role: ModelRole, dialect: Dialect, models: Target["models"] | undefined): string {
  if (role === "plain") return `  ${dialect}: <model id>`;
  const named = models === undefined ? [] : DIALECTS.filter((other) => models[other][role] !== undefined);
  if (named.length === 0 || named.includes(dialect)) return `  ${role}: <model id>`;
  const ids = DIALECTS.map((each) => [each, each === dialect ? "<model id>" : models?.[each][role]]);
  return `  ${role}: ${stringify(Object.fromEntries(ids), { collectionStyle: "flow", lineWidth: 0 }).trimEnd()}`;
}

function hasAccount(need: Need, target: Target): boolean {
  const [, kind, second] = need.split(".");
  const account = limitedFor(target, kind === "rate" ? "rate" : "concurrency");
  return account !== undefined && (second === undefined || account.second !== undefined);
}

/**
 * Lines of the target file that would meet a need; none if no line can.
 *
 * @param target if it has a model for the other dialect, the line names it too.
 */
export function unblockLines(
  need: Need,
  target?: Pick<Target, "models">,
  dialect: Dialect = "chat",
): readonly string[] {
  const [kind, name = ""] = need.split(".");
  switch (kind) {
    case "key":
      return ["keys:", `  ${name}: env:${ENVIRONMENT_NAMES[name as KeyName] ?? "GW_KEY"}`];
    case "model":
      return ["models:", modelLine(name as ModelRole, dialect, target?.models)];
    case "limits":
      return ["limits: starter   # or { rpm: 6000, inFlight: 256 }"];
    case "upstream":
      return [
        "upstream:",
        "  controlUrl: http://127.0.0.1:9101   # as `gauntlet upstream` prints it",
        "  token: env:UPSTREAM_TOKEN",
      ];
    case "tokenLimits":
      return ["tokenLimits:", "  tokensPerMinute: 5000", `  key: ${TOKEN_KEY}`];
    case "compat":
    case "clock":
    case "upgrade":
    case "dialect":
      return [];
    default: {
      // Two accounts: a low rate limit is reached before the concurrency limit.
      const [account, numbers] =
        name === "rate" ? ["GW_LIMITED", "{ rpm: 20, inFlight: 4 }"] : ["GW_NARROW", "{ rpm: 6000, inFlight: 4 }"];
      return ["limited:", `  - { key: env:${account}, second: env:${account}_2, limits: ${numbers} }`];
    }
  }
}
