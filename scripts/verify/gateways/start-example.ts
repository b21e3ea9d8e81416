import { randomBytes } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Finished, startGauntlet } from "../../../test/support/gauntlet.ts";
import type { Gateway, Place } from "./gateway.ts";
import { freePort, type Running, run } from "./program.ts";
import { startProvider, startScriptedProvider } from "./provider.ts";

/** Port that the examples expect the provider on; in parallel runs every gateway has its own provider, on any port. */
const PROVIDER_PORT = 9100;
/** Port of the control interface of `gauntlet upstream`. */
const CONTROL_PORT = 9101;

const EXAMPLES = fileURLToPath(new URL("../../../examples", import.meta.url));

export interface ExampleOptions {
  /** Where packages are installed, and runs are kept. */
  readonly folder: string;
  /** Other gateways are started at the same time. */
  readonly isParallel: boolean;
}

/** A gateway with its provider, as its example describes it. */
export interface StartedExample extends AsyncDisposable {
  /** Folder of the gateway's runs and logs. */
  readonly work: string;
  /** Working copy of the example, with keys. */
  readonly example: string;
  readonly logs: string;
  readonly running: Running;
  /** Runs Gauntlet in the example, as a user would. */
  gauntlet(command: readonly string[]): Promise<Finished>;
}

/** @returns when the gateway responds. */
export async function startExample(gateway: Gateway, { folder, isParallel }: ExampleOptions): Promise<StartedExample> {
  const work = join(folder, "runs", gateway.name);
  rmSync(work, { recursive: true, force: true });
  const [example, logs] = [join(work, "example"), join(work, "logs")];
  const ports = await portsOf(gateway, isParallel);
  copyExample(gateway, example, ports);
  const portOf = (port: number) => ports.get(port) ?? port;
  const secret = (prefix: string) => `${prefix}-${randomBytes(18).toString("hex")}`;
  const env = {
    PROVIDER_KEY: secret("gk"),
    LITELLM_MASTER_KEY: secret("sk"),
    UPSTREAM_TOKEN: secret("up"),
    ...(gateway.programs && { PATH: `${gateway.programs(folder)}:${process.env["PATH"]}` }),
  };
  const place: Place = { example, tools: folder, logs, port: portOf(gateway.port), portOf, env };
  const setUp = () => run([process.execPath, "set-up.mjs"], { cwd: example, env });

  const started: AsyncDisposable[] = [];
  const end = async () => {
    for (const one of started.reverse()) await one[Symbol.asyncDispose]();
  };
  try {
    const provider = { port: portOf(PROVIDER_PORT), folder: work, logs };
    started.push(
      gateway.scripted === true
        ? await startScriptedProvider({ ...provider, controlPort: portOf(CONTROL_PORT), token: env.UPSTREAM_TOKEN })
        : await startProvider({ ...provider, key: env.PROVIDER_KEY, cut: gateway.cut }),
    );
    if (gateway.setUp === "before") setUp();
    const running = await gateway.start(place);
    started.push(running);
    if (gateway.setUp === "after") setUp();
    const gauntlet = (command: readonly string[]) => runGauntlet(command, { env, cwd: example });
    return { work, example, logs, running, gauntlet, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

interface RunPlace {
  readonly env?: Record<string, string>;
  readonly cwd: string;
}

/** Runs Gauntlet as a user would; it ends with this process. */
export async function runGauntlet(command: readonly string[], { env = {}, cwd }: RunPlace): Promise<Finished> {
  await using running = startGauntlet(command, env, cwd);
  const end = () => running.child.kill("SIGKILL");
  process.once("exit", end);
  const done = await running.finished;
  process.removeListener("exit", end);
  return done;
}

/** Gateways that start at the same time may have an example in common, and none of them listens yet. */
const given = new Set<number>();

/** Ports of the example that the gateway gets: the same if they are free. */
async function portsOf({ port, otherPorts = [] }: Gateway, isParallel: boolean): Promise<ReadonlyMap<number, number>> {
  const ports = new Map<number, number>();
  for (const own of [port, ...otherPorts]) {
    const isTaken = isParallel && given.has(own);
    given.add(own);
    ports.set(own, await freePort(isTaken ? 0 : own));
  }
  for (const own of [PROVIDER_PORT, CONTROL_PORT]) ports.set(own, await freePort(isParallel ? 0 : own));
  return ports;
}

/** A working copy: set-up scripts write keys there. Ports in use are replaced. */
function copyExample({ name, example }: Gateway, to: string, ports: ReadonlyMap<number, number>): void {
  const from = join(EXAMPLES, example?.name ?? name);
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith("/keys") });
  for (const file of readdirSync(to, { withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(to, file.name);
    const text = readFileSync(path, "utf8").replaceAll(/127\.0\.0\.1:(\d+)/g, (whole, port) => {
      const other = ports.get(Number(port));
      return other === undefined ? whole : `127.0.0.1:${other}`;
    });
    writeFileSync(path, example?.edit?.(file.name, text) ?? text);
  }
}
