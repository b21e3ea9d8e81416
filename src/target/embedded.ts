import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { EXIT, GauntletError, isObject, messageOf, UsageError } from "../core/index.ts";
import { DIALECTS } from "../dialects/index.ts";
import { embeddedProvisioner } from "./embedded-provisioner.ts";
import { Key } from "./key.ts";
import { circuitOf, modelsByDialect } from "./load-target.ts";
import type { Provisioner } from "./provisioner.ts";
import { type TargetFile, TIERS as TIER_LIMITS, type Tier } from "./schema.ts";
import type { Account, KeyName, Limits, Target } from "./target.ts";

/** The embedded gateway did not come up. */
class EmbeddedGatewayError extends GauntletError {
  readonly code = "EMBEDDED_GATEWAY";
  readonly exit = EXIT.internal;
}

/** What the gateway says in its one line when it is ready. */
export interface ReadyLine {
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly keys: Readonly<Partial<Record<KeyName, string>>> & { readonly valid: string };
  /** By the names of the target file. */
  readonly models: NonNullable<TargetFile["models"]>;
  readonly limits: Limits;
  readonly limited: readonly { readonly key: string; readonly second?: string; readonly limits: Limits }[];
  readonly tiers: Readonly<Partial<Record<Tier, { readonly key: string; readonly second?: string }>>>;
}

export interface EmbeddedGateway extends AsyncDisposable {
  readonly target: Target;
  readonly provisioner: Provisioner;
}

export interface EmbeddedOptions {
  /** Program and arguments that start the gateway, e.g. Node, our main file, `gateway`. */
  readonly command: readonly [string, ...string[]];
  readonly signal?: AbortSignal;
}

/** Longest wait for the ready line, ms: a cold start on a busy machine takes about two seconds. */
const START_MS = 30_000;
/** Longest wait for a clean end before the process is ended for good, ms. */
const STOP_MS = 5_000;

/** Starts the reference gateway in a process of its own and describes it as a target. */
export async function startEmbedded({ command, signal }: EmbeddedOptions): Promise<EmbeddedGateway> {
  const [program, ...args] = command;
  // The channel carries nothing: the gateway ends when it closes, also when this process was killed.
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  child.channel?.unref();
  const { stdout } = child;
  if (stdout === null) throw new EmbeddedGatewayError("the embedded gateway has no output");
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr = (stderr + bytes.toString("utf8")).slice(-4_000);
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(hard);
  };
  try {
    const ready = await readyLine(stdout, exited, signal);
    return { ...describeEmbedded(ready), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    // Its complaint about an option is about an option of ours that was passed on.
    if (child.exitCode === EXIT.usage) throw new UsageError(stderr.trim().replace(/^gauntlet: /, ""), { cause: error });
    throw new EmbeddedGatewayError(`the embedded gateway did not start: ${messageOf(error)} ${stderr.trim()}`.trim(), {
      cause: error,
    });
  }
}

async function readyLine(
  stdout: NodeJS.ReadableStream,
  exited: Promise<unknown>,
  signal?: AbortSignal,
): Promise<ReadyLine> {
  const lines = createInterface({ input: stdout });
  const deadline = AbortSignal.timeout(START_MS);
  const first = once(lines, "line", { signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]) });
  const line: unknown = await Promise.race([
    first.then(([text]) => JSON.parse(String(text))),
    exited.then(() => {
      throw new Error("it ended before it was ready.");
    }),
  ]);
  if (!isObject(line) || typeof line["baseUrl"] !== "string") throw new Error("its first line was not the ready line.");
  return line as unknown as ReadyLine;
}

/** The target that a running reference gateway is, by its ready line. */
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
    headers: {
      reason: "X-Service-Error-Code",
      action: "X-Service-Action",
      version: "anthropic-version",
      versionValue: "2023-06-01",
    },
    extraHeaders: { all: [], models: [], chat: [], messages: [] },
    extraSecrets: [token],
    dialects: DIALECTS,
    contract: {},
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
    provision: undefined,
    skip: {},
    compat: { chat: "openai", messages: "anthropic" },
    requirementSet: undefined,
    budget: { requests: 20_000, outputTokens: 10_000_000 },
    authorized: false,
    http: "offered",
    prices: undefined,
    circuit: circuitOf(undefined),
    timeouts: { answerMs: 60_000, idleMs: 20_000 },
    configuration: { target: "embedded" },
  };
  return { target, provisioner: embeddedProvisioner({ url: ready.adminUrl, token }, keys.valid) };
}
