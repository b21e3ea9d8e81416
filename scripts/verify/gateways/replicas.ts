import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startBalancer } from "../../../test/support/balancer.ts";
import type { GatewayRun, Place } from "./gateway.ts";
import type { Running } from "./program.ts";

/** @returns why replicas with a Redis cannot run here. */
export function missingRedis(): string | undefined {
  const missing = ["redis-server", "redis-cli", "curl"].filter((name) => spawnSync(name, ["--version"]).error);
  return missing.length === 0 ? undefined : `missing: ${missing.join(", ")} (Debian: redis-server, redis-tools, curl)`;
}

/**
 * The suite for replicas, and the workloads with events for which an example has actions.
 *
 * @param target with the addresses of the replicas; `balanced.yaml` is the one with the balancer's.
 */
export function disturbedRuns(target: string): readonly GatewayRun[] {
  return [
    { name: "replicas", command: ["conform", "replicas", "--target", target] },
    ...["rolling-restart", "kill", "counter-store-outage"].map((workload) => ({
      name: workload,
      command: ["load", workload, "--target", "balanced.yaml"],
    })),
  ];
}

/**
 * Starts the store and the replicas of an example with its `store.sh` and `replica.sh`, and a balancer on its main port. Events of a
 * load restart and end them with the same scripts, so that their processes are known only by `*.pid` in the example; those whose
 * children must end with them are also listed in `started.pids`.
 *
 * @param ports of the replicas, in the example.
 */
export async function startReplicas(place: Place, ports: readonly number[]): Promise<Running> {
  const { example, env, port, portOf } = place;
  const end = () => {
    for (const file of readdirSync(example)) {
      if (!/\.pids?$/.test(file)) continue;
      const pids = readFileSync(join(example, file), "utf8").trim().split("\n").map(Number);
      // A process in the second list leads a group.
      for (const pid of pids) kill(file.endsWith("s") ? -pid : pid);
    }
  };
  process.once("exit", end);
  // Not synchronous: it would stop the balancers of other gateways.
  const execute = (script: string, args: readonly string[]) =>
    promisify(execFile)(script, args, { cwd: example, env: { ...process.env, ...env } });
  const stop = async () => {
    process.removeListener("exit", end);
    end();
  };
  try {
    await execute("./store.sh", ["start"]);
    for (let replica = 1; replica <= ports.length; replica++) await execute("./replica.sh", ["start", `${replica}`]);
    const balancer = await startBalancer(ports.map(portOf), port);
    return {
      // An event may have ended them.
      ended: () => undefined,
      async untilAllAccept() {
        for (const one of ports.map(portOf)) await untilAccepts(one);
      },
      async [Symbol.asyncDispose]() {
        balancer.close();
        await stop();
      },
    };
  } catch (error) {
    const logs = readdirSync(example).filter((name) => name.endsWith(".log"));
    const words = logs.map((name) => `${name}: ${readFileSync(join(example, name), "utf8").slice(-1_000)}`).join("\n");
    await stop();
    throw new Error(`${error instanceof Error ? error.message : error}\n${words}`);
  }
}

/** Time for a replica that is starting, ms. */
const START_MS = 120_000;

/** A replica that does not serve would not be missed if an event ended it. @throws if the port does not accept connections in time */
async function untilAccepts(port: number): Promise<void> {
  for (const untilMs = Date.now() + START_MS; ; await sleep(200)) {
    const socket = connect({ port, host: "127.0.0.1" });
    try {
      await once(socket, "connect");
      return;
    } catch (error) {
      if (Date.now() > untilMs)
        throw new Error(`replica on port ${port} does not accept connections`, { cause: error });
    } finally {
      socket.destroy();
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}
