import { readFile } from "node:fs/promises";
import { addressProblem, EXIT, isObject, keyByReference, messageOf, UsageError } from "../../core/index.ts";
import {
  type Arrived,
  type GatewayOptions,
  type LimiterKind,
  type Limits,
  MUTATIONS,
  type Mutation,
  startGateway,
  type Tier,
  type TokenCounts,
  VARIANTS,
  type Variant,
} from "../../reference-gateway/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { startGatewayInFront } from "./gateway-in-front.ts";
import { startReplicas } from "./replicas.ts";
import type { ServeOptions } from "./serve-options.ts";

type RunningGateway = Awaited<ReturnType<typeof startGateway>>;

/** Starts the reference gateway. @throws UsageError for limits or a key file that cannot be read. */
export async function startReferenceGateway(options: ServeOptions): Promise<RunningGateway> {
  if (options.replicas !== undefined) return startReplicas(options, options.replicas);
  if (!options["with-upstream"]) return startGateway(await gatewayOptions(options));
  if (options.upstream.length > 0) throw new UsageError("with-upstream: --upstream already names other providers");
  return startGatewayInFront(await gatewayOptions(options));
}

async function gatewayOptions(args: ServeOptions): Promise<GatewayOptions> {
  return {
    host: args.host,
    port: args.port,
    adminPort: args["admin-port"],
    // The gateway validates enumerated values.
    tier: args.tier as Tier | undefined,
    limits: args.limits === undefined ? undefined : parseLimits(args.limits),
    seed: args.seed,
    limiter: args.limiter as LimiterKind,
    burst: args.burst,
    tokens: tokensOf(args),
    mutations: args.mutation,
    variants: args.variant,
    keys: args.keys === undefined ? undefined : await readKeys(args.keys),
    data: args.data,
    shared: args.shared,
    pieces: args.pieces,
    paceMs: args.pace,
    slowMs: args.slow,
    upstream: providersOf(args),
    upstreamTimeoutMs: args["upstream-timeout"],
    settlingLagMs: args["settling-lag"],
    bodyLimitBytes: args["body-limit"],
    drainMs: args.drain,
    onRequest: args["log-requests"] ? logRequest : undefined,
  };
}

function logRequest({ atMs, endpoint, stream, status, reason }: Arrived): void {
  const request = { event: "request", at: new Date(atMs).toISOString(), endpoint, stream, status, reason };
  process.stdout.write(`${JSON.stringify(request)}\n`);
}

function tokensOf({ "tokens-per-minute": perMinute, "token-counts": counts }: ServeOptions): GatewayOptions["tokens"] {
  if (perMinute !== undefined) return { perMinute, counts: counts as TokenCounts | undefined };
  if (counts === undefined) return undefined;
  throw new UsageError("token-counts needs a limit on tokens", { hint: "Add --tokens-per-minute N." });
}

function providersOf({ upstream, "upstream-key": keys }: ServeOptions): NonNullable<GatewayOptions["upstream"]> {
  if (keys.length > upstream.length)
    throw new UsageError(`upstream-key: ${keys.length} keys for ${upstream.length} providers`);
  for (const address of upstream) {
    const problem = addressProblem(address);
    if (problem !== undefined) throw new UsageError(`--upstream ${problem}`);
  }
  return upstream.map((baseUrl, index) => {
    const reference = keys[index];
    return { baseUrl, key: reference === undefined ? undefined : keyByReference("--upstream-key", reference) };
  });
}

function parseLimits(value: string): Limits {
  const parts = /^(\d+):(\d+)$/.exec(value);
  if (parts === null) {
    throw new UsageError(`limits: "${value}" is not two whole numbers with a colon between them.`, {
      hint: "For example --limits 300:64, requests per minute and requests in flight.",
    });
  }
  return { rpm: Number(parts[1]), inFlight: Number(parts[2]) };
}

/** Keys come from a file, never from the command line, which every user of the machine can read. */
async function readKeys(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new UsageError(`keys: ${file} cannot be read: ${messageOf(cause)}`, {
      hint: 'It holds an object of names and keys, such as {"valid": "…"}.',
    });
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`keys: ${file} is not JSON.`, { cause: messageOf(cause) });
  }
  if (
    !isObject(parsed) ||
    Object.values(parsed).some((text) => typeof text !== "string" || !/^[!-~]{8,256}$/.test(text))
  ) {
    throw new UsageError(`keys: ${file} must hold an object of names and texts of 8 to 256 visible ASCII characters.`);
  }
  return parsed as Record<string, string>;
}

/** Every mutation, or every valid variant, of the reference gateway. */
export function listSwitches(kind: "mutations" | "variants"): Outcome {
  const entries: readonly (Mutation | Variant)[] = kind === "mutations" ? MUTATIONS : VARIANTS;
  const shown = entries.map(({ apply: _apply, ...entry }) => entry);
  const width = Math.max(0, ...shown.map((entry) => entry.name.length));
  const lines = shown.map((entry) => {
    const breaks = "breaks" in entry ? ` [${entry.breaks.join(" ")}]` : "";
    return `${entry.name.padEnd(width)}  ${entry.summary}${breaks}\n`;
  });
  return { exitCode: EXIT.pass, document: shown, text: () => lines.join("") };
}
