import { DIALECTS } from "../../dialects/index.ts";
import { ledgerOf, type WrittenLedger } from "../file/ledger.ts";
import { circuitOf, defaultBudget, modelsByDialect } from "../file/load-target.ts";
import type { TargetFile } from "../file/schema.ts";
import { TIERS as TIER_LIMITS, type Tier } from "../file/tiers.ts";
import { type TokenLimits, tokenLimitsOf } from "../file/token-limits.ts";
import { Key } from "../key.ts";
import type { Account, KeyName, Limits, Target, UpstreamTarget } from "../target.ts";
import { embeddedProvisioner } from "./embedded-provisioner.ts";
import { type OwnProcessOptions, startOwnProcess } from "./own-process.ts";
import type { Provisioner } from "./provisioner.ts";

/** The ready line of the gateway. */
export interface ReadyLine {
  readonly baseUrl: string;
  /** Of all replicas, if it has several. */
  readonly addresses?: readonly string[];
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly keys: Readonly<Partial<Record<KeyName, string>>> & { readonly valid: string };
  /** By the names of the target file. */
  readonly models: NonNullable<TargetFile["models"]>;
  readonly contract?: Target["contract"];
  readonly limits: Limits;
  readonly limited: readonly { readonly key: string; readonly second?: string; readonly limits: Limits }[];
  readonly tiers: Readonly<Partial<Record<Tier, { readonly key: string; readonly second?: string }>>>;
  readonly upstream?: UpstreamReady;
  readonly tokenLimits?: TokenLimitsReady;
  /** Its ledger, as a target file describes it; `path` follows the address of the admin interface. */
  readonly ledger?: Omit<WrittenLedger, "url" | "token"> & { readonly path: string };
}

/** An account with a limit on tokens per minute, if the gateway was started with one. */
interface TokenLimitsReady {
  readonly key: string;
  readonly tokensPerMinute: number;
  readonly counts: TokenLimits["counts"];
  readonly inFlightTokens: number;
  readonly remainingHeaders: readonly string[];
}

/** Providers that were started with the gateway. */
interface UpstreamReady {
  readonly controlUrl: string;
  readonly controlToken: string;
  readonly model: string;
  readonly attempts: number;
  readonly failover: readonly string[];
}

export interface EmbeddedGateway extends AsyncDisposable {
  readonly target: Target;
  readonly provisioner: Provisioner;
}

export interface EmbeddedOptions {
  /** Program and arguments that start the gateway, e.g. Node, our main file, `gateway`. */
  readonly command: readonly [string, ...string[]];
  readonly signal?: AbortSignal;
  /** If the command is the user's: what to call it, its option, and the error if it does not start. */
  readonly userCommand?: Pick<OwnProcessOptions, "what" | "option" | "failure">;
}

/** Starts the reference gateway in a separate process and describes it as a target. */
export async function startEmbedded({ command, signal, userCommand }: EmbeddedOptions): Promise<EmbeddedGateway> {
  const own = { what: "the embedded gateway", readyField: "baseUrl", signal, ...userCommand };
  const gateway = await startOwnProcess(command, own);
  return {
    ...describeEmbedded(gateway.ready as unknown as ReadyLine),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

function upstreamOf({ controlUrl, controlToken, model, attempts, failover }: UpstreamReady): UpstreamTarget {
  const token = new Key("upstream.token", controlToken);
  return { controlUrl, token, models: { chat: model, messages: model }, attempts, failover, passesCallerKey: false };
}

function tokenLimitsOfReady({ key, remainingHeaders, ...limits }: TokenLimitsReady): TokenLimits {
  return tokenLimitsOf({ ...limits, remainingHeaders: [...remainingHeaders] }, new Key("tokenLimits.key", key));
}

function embeddedLedger({ path, ...written }: NonNullable<ReadyLine["ledger"]>, adminUrl: string, token: Key) {
  // Checks use fresh keys of this gateway.
  return ledgerOf({ ...written, url: `${adminUrl}${path}` }, "embedded", { token, key: undefined });
}

/** A running reference gateway as a target, based on its ready line. */
export function describeEmbedded(ready: ReadyLine): { readonly target: Target; readonly provisioner: Provisioner } {
  const keys = Object.fromEntries(
    Object.entries(ready.keys).map(([name, value]) => [name, new Key(name, value)]),
  ) as Target["keys"];
  const account = (path: string, { key, second }: { key: string; second?: string }, limits: Limits): Account => ({
    key: new Key(`${path}.key`, key),
    second: second === undefined ? undefined : new Key(`${path}.second`, second),
    limits,
  });
  const token = new Key("admin", ready.adminToken);
  const target: Target = {
    name: "embedded reference gateway",
    source: "embedded",
    baseUrl: ready.baseUrl,
    addresses: ready.addresses && { urls: ready.addresses, choice: "round-robin" },
    headers: {
      reason: "X-Service-Error-Code",
      action: "X-Service-Action",
      version: "anthropic-version",
      versionValue: "2023-06-01",
    },
    extraHeaders: { all: [], models: [], chat: [], messages: [] },
    extraSecrets: [token],
    dialects: DIALECTS,
    contract: ready.contract ?? {},
    keys,
    models: modelsByDialect(ready.models),
    limits: ready.limits,
    limited: ready.limited.map((entry, index) => account(`limited.${index}`, entry, entry.limits)),
    tiers: Object.fromEntries(
      Object.entries(ready.tiers).map(([tier, entry]) => [
        tier,
        account(`tiers.${tier}`, entry, TIER_LIMITS[tier as Tier]),
      ]),
    ),
    tokenLimits: ready.tokenLimits && tokenLimitsOfReady(ready.tokenLimits),
    ledger: ready.ledger && embeddedLedger(ready.ledger, ready.adminUrl, token),
    provision: undefined,
    skip: {},
    compat: { chat: "openai", messages: "anthropic" },
    requirementSet: undefined,
    profiles: [],
    budget: defaultBudget([ready.baseUrl]),
    disturb: {},
    processes: undefined,
    authorized: false,
    http: "offered",
    prices: undefined,
    circuit: circuitOf(undefined),
    timeouts: { responseMs: 60_000, idleMs: 20_000 },
    upstream: ready.upstream && upstreamOf(ready.upstream),
    configuration: { target: "embedded" },
  };
  return { target, provisioner: embeddedProvisioner({ url: ready.adminUrl, token }, keys.valid) };
}
