import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../core/index.ts";
import type { Gateway, ReadyLine } from "../../reference-gateway/index.ts";
import { mainFile } from "../../run/open/index.ts";
import { type OwnProcess, startOwnProcess } from "../../target/index.ts";
import type { ServeOptions } from "./serve-options.ts";

/** Options that each replica gets as they were given. */
const FORWARDED_OPTIONS = [
  ...["host", "tier", "limits", "seed", "limiter", "burst", "mutation", "variant", "keys", "pieces", "pace", "slow"],
  ...["upstream", "upstream-key", "upstream-timeout", "settling-lag", "body-limit", "drain"],
] as readonly (keyof ServeOptions)[];

/** Options that replicas cannot have, with the reason. */
const UNSUPPORTED_OPTIONS: Partial<Record<keyof ServeOptions, string>> = {
  data: "the replicas already share a separate file",
  "tokens-per-minute": "replicas do not share token limits",
  "log-requests": "what they print is not shown",
  "with-upstream": "start `gauntlet upstream` separately and pass its address with --upstream",
};

/** Added to the drain time of a replica before it is killed, ms. */
const STOP_MARGIN_MS = 3_000;
const DEFAULT_DRAIN_MS = 2_000;

/**
 * Starts several processes of the reference gateway that share accounts, counters and history through one file. A replica that ends
 * is not started again: `--shared` starts one that takes over.
 *
 * @throws UsageError when an option cannot be combined with replicas, or a port is taken.
 */
export async function startReplicas(options: ServeOptions, count: number): Promise<Gateway> {
  for (const [name, why] of Object.entries(UNSUPPORTED_OPTIONS)) {
    const given = options[name as keyof ServeOptions];
    if (given !== undefined && given !== false)
      throw new UsageError(`--${name} cannot be combined with --replicas: ${why}`);
  }
  const folder = options.shared === undefined ? mkdtempSync(join(tmpdir(), "gauntlet-replicas-")) : undefined;
  const shared = options.shared ?? join(folder ?? "", "shared.db");
  const replicas: OwnProcess[] = [];
  const end = async () => {
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  const stopMs = (options.drain ?? DEFAULT_DRAIN_MS) + STOP_MARGIN_MS;
  const start = async (index: number) => {
    const command = [process.execPath, mainFile(), "gateway", "--shared", shared, ...argumentsOf(options, index)];
    replicas.push(
      await startOwnProcess(command as [string, ...string[]], {
        what: `replica ${index + 1}`,
        readyField: "baseUrl",
        stopMs,
      }),
    );
  };
  try {
    // One after the other, so that they are numbered in this order.
    for (let index = 0; index < count; index++) await start(index);
  } catch (error) {
    await end();
    throw error;
  }
  const lines = replicas.map(({ ready }) => ready as unknown as ReadyLine);
  const [first] = lines;
  if (first === undefined) throw new Error("no replica was started");
  return {
    ready: {
      ...first,
      pid: process.pid,
      addresses: lines.map(({ baseUrl }) => baseUrl),
      replicas: lines.map(({ pid, baseUrl, adminUrl, adminToken }) => ({ pid, baseUrl, adminUrl, adminToken })),
      shared,
    },
    drain: end,
    destroy: end,
    [Symbol.asyncDispose]: end,
  };
}

function argumentsOf(options: ServeOptions, index: number): string[] {
  const port = (first: number) => String(first === 0 ? 0 : first + index);
  const given = FORWARDED_OPTIONS.flatMap((name) => {
    const value = options[name];
    if (value === undefined) return [];
    return [value].flat().flatMap((one) => [`--${name}`, String(one)]);
  });
  return ["--port", port(options.port), "--admin-port", port(options["admin-port"]), ...given];
}
