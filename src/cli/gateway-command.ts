import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { CommandModule } from "yargs";
import { isObject, messageOf, UsageError } from "../core/index.ts";
import type { GatewayOptions, LimiterKind, Limits, Mutation, Tier, Variant } from "../reference-gateway/index.ts";

interface Arguments {
  readonly port: number;
  readonly host: string;
  readonly "admin-port": number;
  readonly tier?: string;
  readonly limits?: string;
  readonly seed: number;
  readonly limiter: string;
  readonly burst?: number;
  readonly mutation: readonly string[];
  readonly variant: readonly string[];
  readonly "list-mutations": boolean;
  readonly "list-variants": boolean;
  readonly json: boolean;
  readonly keys?: string;
  readonly pieces?: number;
  readonly pace?: number;
  readonly slow?: number;
  readonly "upstream-timeout"?: number;
  readonly "settling-lag"?: number;
  readonly "body-limit"?: number;
  readonly drain?: number;
}

/** `gauntlet gateway`: runs the reference gateway until it is told to stop. */
export const gatewayCommand: CommandModule<object, Arguments> = {
  command: "gateway",
  describe: "Run the reference gateway",
  builder: {
    port: { type: "number", default: 0, describe: "TCP port; 0 takes a free one" },
    host: { type: "string", default: "127.0.0.1", describe: "address to listen on" },
    "admin-port": { type: "number", default: 0, describe: "TCP port of the admin interface, always on loopback" },
    tier: { type: "string", describe: "limits of the main account: starter, growth or scale" },
    limits: { type: "string", describe: "limits of the main account: requests per minute:requests in flight" },
    seed: { type: "number", default: 1, describe: "decides what the simulated models say" },
    limiter: {
      type: "string",
      default: "sliding-log",
      describe: "how the rate is limited: sliding-log, fixed-window, token-bucket or paced",
    },
    burst: { type: "number", describe: "size of the bucket of token-bucket, requests" },
    mutation: { type: "string", array: true, default: [], describe: "switch on a defect" },
    variant: { type: "string", array: true, default: [], describe: "switch on a legal variant" },
    "list-mutations": { type: "boolean", default: false, describe: "list the defects and end" },
    "list-variants": { type: "boolean", default: false, describe: "list the legal variants and end" },
    json: { type: "boolean", default: false, describe: "lists as one JSON document" },
    keys: { type: "string", describe: "JSON file with texts of ready-made keys by name" },
    pieces: { type: "number", describe: "pieces of a reply of echo-stream (40)" },
    pace: { type: "number", describe: "milliseconds between pieces of echo-stream (50)" },
    slow: { type: "number", describe: "milliseconds that a reply of slow takes (5000)" },
    "upstream-timeout": { type: "number", describe: "milliseconds until a silent provider is given up (1500)" },
    "settling-lag": { type: "number", describe: "milliseconds until a charge shows in a key's tallies (0)" },
    "body-limit": { type: "number", describe: "largest request body, bytes (8388608)" },
    drain: { type: "number", describe: "milliseconds that running requests get after a signal (10000)" },
  },
  async handler(args) {
    // Loaded here, so that the help of other commands does not pay for it.
    const gateway = await import("../reference-gateway/index.ts");
    if (args["list-mutations"] || args["list-variants"]) {
      list(args["list-mutations"] ? gateway.MUTATIONS : gateway.VARIANTS, args.json);
      return;
    }
    const running = await gateway.startGateway(await optionsFrom(args));
    const asked = new AbortController();
    const stop = () => asked.abort();
    process.on("SIGTERM", stop).on("SIGINT", stop);
    // Started by a run of ours: without it there is nobody to serve, and nobody to end us.
    if (process.connected) process.once("disconnect", stop);
    // It was killed before we came this far.
    else if (process.send !== undefined) stop();
    process.stdout.write(`${JSON.stringify(running.ready)}\n`);
    if (!asked.signal.aborted) await once(asked.signal, "abort");
    await running.drain();
    process.off("SIGTERM", stop).off("SIGINT", stop);
    // Whoever listens for its end holds the channel open, and with it this process.
    if (process.connected) process.disconnect();
  },
};

async function optionsFrom(args: Arguments): Promise<GatewayOptions> {
  return {
    host: args.host,
    port: args.port,
    adminPort: args["admin-port"],
    // Closed sets are checked by the gateway, which knows them.
    tier: args.tier as Tier | undefined,
    limits: args.limits === undefined ? undefined : parseLimits(args.limits),
    seed: args.seed,
    limiter: args.limiter as LimiterKind,
    burst: args.burst,
    mutations: args.mutation,
    variants: args.variant,
    keys: args.keys === undefined ? undefined : await readKeys(args.keys),
    pieces: args.pieces,
    paceMs: args.pace,
    slowMs: args.slow,
    upstreamTimeoutMs: args["upstream-timeout"],
    settlingLagMs: args["settling-lag"],
    bodyLimitBytes: args["body-limit"],
    drainMs: args.drain,
  };
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

/** Keys come from a file, never from the command line: that can be read by everyone on the machine. */
async function readKeys(file: string): Promise<Record<string, string>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw new UsageError(`keys: ${file} cannot be read as JSON.`, { cause: messageOf(cause) });
  }
  if (
    !isObject(parsed) ||
    Object.values(parsed).some((text) => typeof text !== "string" || !/^[!-~]{8,256}$/.test(text))
  ) {
    throw new UsageError(`keys: ${file} must hold an object of names and texts of 8 to 256 visible ASCII characters.`);
  }
  return parsed as Record<string, string>;
}

function list(entries: readonly (Mutation | Variant)[], json: boolean): void {
  const shown = entries.map(({ apply: _apply, ...entry }) => entry);
  if (json) {
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  const width = Math.max(0, ...shown.map((entry) => entry.name.length));
  for (const entry of shown) {
    const requirements = "requirements" in entry ? ` [${entry.requirements.join(" ")}]` : "";
    process.stdout.write(`${entry.name.padEnd(width)}  ${entry.summary}${requirements}\n`);
  }
}
