import type { Dialect } from "../dialects/index.ts";
import type { Addresses } from "./addresses.ts";
import type { Action } from "./file/action.ts";
import type { LedgerTarget } from "./file/ledger.ts";
import type { TargetFile } from "./file/schema.ts";
import type { Tier } from "./file/tiers.ts";
import type { TokenLimits } from "./file/token-limits.ts";
import type { Key } from "./key.ts";

export type KeyName = keyof TargetFile["keys"];
/** The role of a model. `plain` replies with text: the target file names it by its dialect. */
export type ModelRole = "plain" | Exclude<keyof NonNullable<TargetFile["models"]>, "chat" | "messages">;
export type Models = Readonly<Partial<Record<ModelRole, string>>>;

export interface Limits {
  /** Requests per minute; infinite if declared as nonexistent. */
  readonly rpm: number;
  readonly inFlight: number;
}

/** Whether the account has both limits: a gateway may be declared to have none. */
export function hasBothLimits({ rpm, inFlight }: Limits): boolean {
  return Number.isFinite(rpm) && Number.isFinite(inFlight);
}

/** An account reserved for limit checks or for a tier. */
export interface Account {
  readonly key: Key;
  readonly second: Key | undefined;
  readonly limits: Limits;
}

/** The providers behind the gateway, if `gauntlet upstream` simulates them. */
export interface UpstreamTarget {
  readonly controlUrl: string;
  readonly token: Key;
  /** Models of the gateway that these providers serve, by dialect; absent: its plain model. */
  readonly models: Readonly<Partial<Record<Dialect, string>>>;
  /** Maximum number of provider requests per client request; `undefined` if unknown. */
  readonly attempts: number | undefined;
  /** Providers by name, in the order in which they are called; fewer than two: no failover. */
  readonly failover: readonly string[];
  /** Whether the caller's key is the provider's own and is passed on. */
  readonly passesCallerKey: boolean;
}

/** A loaded target file: references resolved, defaults filled in. Its keys print as their names. */
export interface Target {
  readonly name: string;
  /** Where it was described: a path, or `embedded`. */
  readonly source: string;
  /** The base address, or the first of several. */
  readonly baseUrl: string;
  /** `undefined`: the base address is the only one. */
  readonly addresses: Addresses | undefined;
  readonly headers: {
    readonly reason: string;
    readonly action: string;
    readonly version: string;
    readonly versionValue: string;
  };
  readonly extraHeaders: Readonly<
    Record<"all" | "models" | "chat" | "messages", readonly (readonly [string, string])[]>
  >;
  /** Values of extra headers that were given by reference: also secrets. */
  readonly extraSecrets: readonly Key[];
  /** Dialects that the gateway serves according to the file, at least one; chat first. */
  readonly dialects: readonly Dialect[];
  readonly contract: NonNullable<TargetFile["contract"]>;
  readonly keys: Readonly<Partial<Record<KeyName, Key>>> & { readonly valid: Key };
  /** Model ids by dialect and role. */
  readonly models: { readonly chat: Models; readonly messages: Models };
  /** Limits of the account of `valid`; `undefined` if unknown. */
  readonly limits: Limits | undefined;
  readonly limited: readonly Account[];
  readonly tiers: Readonly<Partial<Record<Tier, Account>>>;
  /** A limit on tokens per minute; `undefined`: none is declared, and none is tested. */
  readonly tokenLimits: TokenLimits | undefined;
  /** Where the gateway records requests and their cost; `undefined`: this is not tested. */
  readonly ledger: LedgerTarget | undefined;
  readonly provision: TargetFile["provision"];
  readonly skip: Readonly<Record<string, string>>;
  readonly compat: { readonly chat: "openai" | "none"; readonly messages: "anthropic" | "none" };
  /** Requirement set to be judged by; `undefined` for the newest. */
  readonly requirementSet: number | undefined;
  /** Names of the profiles that the gateway claims; empty: none. */
  readonly profiles: readonly string[];
  readonly budget: { readonly requests: number; readonly outputTokens: number };
  readonly authorized: boolean;
  /** What events of a workload may do, by name. */
  readonly disturb: Readonly<Record<string, Action>>;
  /** What is sampled during a load, as absolute paths; `undefined`: nothing. */
  readonly processes: { readonly pidFiles: readonly string[]; readonly logs: readonly string[] } | undefined;
  /** HTTP version for load: 1.1, 2, or negotiated by the TLS handshake. */
  readonly http: 1 | 2 | "offered";
  /** For the cost estimate of a plan. */
  readonly prices:
    | { readonly inputPerMTok: number; readonly outputPerMTok: number; readonly currency: string }
    | undefined;
  /** When load stops because the target has collapsed; `undefined`: never. */
  readonly circuit: { readonly failedShare: number; readonly requests: number } | undefined;
  readonly timeouts: { readonly responseMs: number; readonly idleMs: number };
  /** `undefined`: provider requests cannot be observed. */
  readonly upstream: UpstreamTarget | undefined;
  /** The file as written, for the record: it holds references, not keys. */
  readonly configuration: unknown;
}

/** The keys of an account; load alternates between them. */
export function keysOf({ key, second }: Pick<Account, "key" | "second">): readonly Key[] {
  return second === undefined ? [key] : [key, second];
}

/** Every key of a target, for the redactor. */
export function allKeys(target: Target): readonly Key[] {
  const accounts = [...target.limited, ...Object.values(target.tiers)];
  return [
    ...Object.values(target.keys),
    ...accounts.flatMap(keysOf),
    ...target.extraSecrets,
    ...(target.tokenLimits?.key === undefined ? [] : [target.tokenLimits.key]),
    ...(target.upstream === undefined ? [] : [target.upstream.token]),
    ...ledgerKeys(target.ledger),
  ];
}

function ledgerKeys(ledger: LedgerTarget | undefined): readonly Key[] {
  const token = ledger?.from.kind === "http" ? ledger.from.token : undefined;
  return [token, ledger?.key].filter((key) => key !== undefined);
}

/** Whether an address is certainly this machine. Load is only sent to others when the target says `authorized: true`. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
