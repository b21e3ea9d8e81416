import { type Clock, UsageError } from "../core/index.ts";
import { type Limits, TIER_NAMES, TIERS, type Tier } from "./accounts/tiers.ts";
import { LIMITER_KINDS, type LimiterKind } from "./limiters/limiter-kinds.ts";
import { TOKEN_COUNTS, type TokenCounts } from "./limiters/token-limiter.ts";
import type { UpstreamProvider } from "./relay/upstream.ts";
import type { Script } from "./scripts/script.ts";
import type { Arrived } from "./traffic-log.ts";

/** How to start a gateway. Every field has a default. */
export interface GatewayOptions {
  /** Address to listen on. Default: 127.0.0.1. The admin interface always listens on loopback. */
  readonly host?: string | undefined;
  /** TCP port; 0 takes a free one. Default: 0. */
  readonly port?: number | undefined;
  /** TCP port of the admin interface; 0 takes a free one. Default: 0. */
  readonly adminPort?: number | undefined;
  /** Limits of the main account by tier. Default: none, see `limits`. */
  readonly tier?: Tier | undefined;
  /** Limits of the main account by numbers, 1 or more each. Default: 6,000 per minute, 256 in flight. */
  readonly limits?: Limits | undefined;
  /** Seed of the simulated providers' replies. Default: 1. */
  readonly seed?: number | undefined;
  /** Rate limiting algorithm. Default: `sliding-log`. */
  readonly limiter?: LimiterKind | undefined;
  /** Size of the bucket of `token-bucket`, requests. Default: the limit per minute. Minimum: 1. */
  readonly burst?: number | undefined;
  /** An additional account with a token limit per minute. Default: none, tokens are not limited. */
  readonly tokens?: { readonly perMinute: number; readonly counts?: TokenCounts | undefined } | undefined;
  /** Names of the mutations enabled at start. Default: none. */
  readonly mutations?: readonly string[] | undefined;
  /** Names of the variants enabled at start. Default: none. */
  readonly variants?: readonly string[] | undefined;
  /** Milliseconds until a charge appears in a key's tallies. Default: 0. */
  readonly settlingLagMs?: number | undefined;
  /** Pieces of a reply of `echo-stream`. Default: 40. Minimum: 1. */
  readonly pieces?: number | undefined;
  /** Milliseconds between pieces of `echo-stream`. Default: 50. */
  readonly paceMs?: number | undefined;
  /** Milliseconds that a reply of `slow` takes. Default: 5,000. */
  readonly slowMs?: number | undefined;
  /** Timeout of a provider, milliseconds. Default: 1,500 for simulated, 60,000 for real ones. Minimum: 1. */
  readonly upstreamTimeoutMs?: number | undefined;
  /** Providers that are called over HTTP instead of the simulated ones, in this order. */
  readonly upstream?: readonly UpstreamProvider[] | undefined;
  /** Whether to offer the simulated models in addition to those of real providers. Default: no. */
  readonly simulatedToo?: boolean | undefined;
  /** Largest request body, bytes. Default: 8 MiB. Minimum: 1,024. */
  readonly bodyLimitBytes?: number | undefined;
  /** Milliseconds that `drain` waits for requests in flight. Default: 2,000. */
  readonly drainMs?: number | undefined;
  /** Called with each request as soon as it was decided. Default: nothing. */
  readonly onRequest?: ((entry: Arrived) => void) | undefined;
  /** Texts of ready-made keys by name, visible ASCII, at least 8 characters. Default: random ones. */
  readonly keys?: Readonly<Record<string, string>> | undefined;
  /** SQLite file that keeps accounts, keys and the history across restarts. Default: none, everything is in memory. */
  readonly data?: string | undefined;
  /** SQLite file through which several gateways share accounts, counters and history. Default: none, there is only this one. */
  readonly shared?: string | undefined;
  /** Bearer token of the admin interface. Default: a random one. */
  readonly adminToken?: string | undefined;
  /** Decides what happens to inference requests, after all other changes. Default: none. */
  readonly script?: Script | undefined;
  /** Time. Default: the system's. */
  readonly clock?: Clock | undefined;
}

/** A limit on tokens per minute. */
export interface TokenSettings {
  readonly perMinute: number;
  readonly counts: TokenCounts;
}

/** Options with every default filled in. */
export interface GatewaySettings {
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly limits: Limits;
  /** Whether `limits` was given explicitly. */
  readonly hasOwnLimits: boolean;
  readonly seed: number;
  readonly limiter: LimiterKind;
  readonly burst: number | undefined;
  readonly tokens: TokenSettings | undefined;
  readonly mutations: readonly string[];
  readonly variants: readonly string[];
  readonly settlingLagMs: number;
  readonly pieces: number;
  readonly paceMs: number;
  readonly slowMs: number;
  readonly upstreamTimeoutMs: number;
  /** The same for real providers. */
  readonly realTimeoutMs: number;
  readonly upstream: readonly UpstreamProvider[];
  readonly simulatedToo: boolean;
  readonly bodyLimitBytes: number;
  readonly drainMs: number;
  readonly keys: Readonly<Record<string, string>>;
}

/** @throws UsageError for the first invalid value. */
export function resolveOptions(options: GatewayOptions): GatewaySettings {
  const { tier, limiter = "sliding-log", upstream = [] } = options;
  if (tier !== undefined && !TIER_NAMES.includes(tier)) {
    throw new UsageError(`tier: "${tier}" is not one of ${TIER_NAMES.join(", ")}.`);
  }
  if (!LIMITER_KINDS.includes(limiter)) {
    throw new UsageError(`limiter: "${limiter}" is not one of ${LIMITER_KINDS.join(", ")}.`);
  }
  if (options.burst !== undefined && limiter !== "token-bucket") {
    throw new UsageError(`burst: only the limiter token-bucket has one, and the limiter is ${limiter}.`);
  }
  const limits = options.limits ?? (tier === undefined ? { rpm: 6_000, inFlight: 256 } : TIERS[tier]);
  return {
    host: options.host ?? "127.0.0.1",
    port: wholeNumber("port", options.port ?? 0, 0, 65_535),
    adminPort: wholeNumber("admin-port", options.adminPort ?? 0, 0, 65_535),
    limits: {
      rpm: wholeNumber("limits (requests per minute)", limits.rpm, 1, 10_000_000),
      inFlight: wholeNumber("limits (requests in flight)", limits.inFlight, 1, 1_000_000),
    },
    hasOwnLimits: options.limits !== undefined || tier !== undefined,
    seed: wholeNumber("seed", options.seed ?? 1, 0, 4_294_967_295),
    limiter,
    burst: options.burst === undefined ? undefined : wholeNumber("burst", options.burst, 1, 10_000_000),
    tokens: options.tokens && readTokens(options.tokens),
    mutations: options.mutations ?? [],
    variants: options.variants ?? [],
    settlingLagMs: wholeNumber("settling-lag", options.settlingLagMs ?? 0, 0, 86_400_000),
    pieces: wholeNumber("pieces", options.pieces ?? 40, 1, 100_000),
    paceMs: wholeNumber("pace", options.paceMs ?? 50, 0, 60_000),
    slowMs: wholeNumber("slow", options.slowMs ?? 5_000, 0, 3_600_000),
    upstreamTimeoutMs: wholeNumber("upstream-timeout", options.upstreamTimeoutMs ?? 1_500, 1, 3_600_000),
    realTimeoutMs: options.upstreamTimeoutMs ?? 60_000,
    upstream: upstream.map(readProvider),
    simulatedToo: options.simulatedToo ?? false,
    bodyLimitBytes: wholeNumber("body-limit", options.bodyLimitBytes ?? 8 * 1_024 * 1_024, 1_024, 1_073_741_824),
    drainMs: wholeNumber("drain", options.drainMs ?? 2_000, 0, 3_600_000),
    keys: options.keys ?? {},
  };
}

function readTokens({ perMinute, counts = "total" }: NonNullable<GatewayOptions["tokens"]>): TokenSettings {
  if (!TOKEN_COUNTS.includes(counts)) {
    throw new UsageError(`token-counts: "${counts}" is not one of ${TOKEN_COUNTS.join(", ")}.`);
  }
  return { perMinute: wholeNumber("tokens-per-minute", perMinute, 1, 1_000_000_000), counts };
}

function readProvider({ baseUrl, key }: UpstreamProvider): UpstreamProvider {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    throw new UsageError(`upstream: "${baseUrl}" is not an address that begins with http:// or https://`);
  return { baseUrl: baseUrl.replace(/\/+$/, ""), key };
}

function wholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`${name}: ${value} is not a whole number from ${min} to ${max}.`);
}
