import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/support/balancer.ts";
import { startGauntlet } from "../../../test/support/gauntlet.ts";
import { startTwoGateways } from "../../../test/support/two-gateways.ts";

/** Two replicas of the reference gateway, and what their events need. */
export interface DisturbedGateway extends AsyncDisposable {
  readonly folder: string;
  /** Path of the target file. */
  readonly target: string;
  readonly environment: Record<string, string>;
}

/** What the replicas of a scenario need. */
interface Setup {
  /** Requests per minute:requests in flight. */
  readonly limits: string;
  readonly options?: string;
  /** Lines of the target file. */
  readonly target?: string;
}

const DEFAULT: Setup = { limits: "60000:200" };

const SETUPS: Readonly<Record<string, Setup>> = {
  // Streams take 4 s, so at most 16 are in flight: if a killed replica's streams still count, 18 is too low for the new ones.
  kill: { limits: "60000:18", options: " --pace 100" },
  // Up to 16 streams in flight are distinguished from 40.
  "rolling-restart-capacity": {
    limits: "60000:40",
    options: " --pace 100",
    target: "limits: { rpm: 60000, inFlight: 40 }\n",
  },
  "counter-store-limits": { limits: "300:200" },
  "counter-store-cost": {
    ...DEFAULT,
    options: " --log-requests",
    target: "processes: { pidFiles: [a.pid, b.pid], logs: [a.log, b.log] }\n",
  },
};

const TOKEN = "control-token-of-the-upstream";

/**
 * Times of the provider. A reply takes 180 to 270 ms: one connection can carry the load of the shipped workloads, and little more.
 */
const PROVIDER = `providers:
  upstream:
    models:
      m: { latencyMs: 180, firstTokenMs: 10, gapMs: 11 }
`;

/** @param change options of the replicas that change them: `--mutation NAME`, `--limiter fixed-window`; empty: none. */
export async function startDisturbed(scenario: string, change: string): Promise<DisturbedGateway> {
  const setup = SETUPS[scenario] ?? DEFAULT;
  const options = `--drain 10000${setup.options ?? ""} ${change}`;
  const shared = { shared: true, limits: setup.limits };
  if (!scenario.includes("upstream")) {
    const gateways = await startTwoGateways(options, {
      ...shared,
      disturb: `  restart: ./roll.sh
  stopStore: ./stop-store.sh
  startStore: ./start-store.sh
${setup.target ?? ""}`,
    });
    writeStoreScripts(gateways.folder);
    return {
      folder: gateways.folder,
      target: join(gateways.folder, "target.yaml"),
      environment: gateways.environment,
      [Symbol.asyncDispose]: () => gateways[Symbol.asyncDispose](),
    };
  }
  const [port, control] = [await freePort(), await freePort()];
  const http = (method: string, body = "") =>
    `{ http: { method: ${method}, url: "http://127.0.0.1:${control}/disturbance", token: "env:UPSTREAM_TOKEN"${body} } }`;
  const upstream = await startUpstream(port, control);
  try {
    const gateways = await startTwoGateways(`${options} --upstream http://127.0.0.1:${port}/upstream/v1`, {
      ...shared,
      models: "{ chat: m, messages: m, stream: m }",
      environment: { UPSTREAM_TOKEN: TOKEN },
      disturb: `  failUpstream: ${http("PUT", ", body: { error: { status: 503 } }")}
  slowUpstream: ${http("PUT", ", body: { latencyMs: 9000 }")}
  restoreUpstream: ${http("DELETE")}
`,
    });
    return {
      folder: gateways.folder,
      target: join(gateways.folder, "target.yaml"),
      environment: gateways.environment,
      async [Symbol.asyncDispose]() {
        await gateways[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await upstream[Symbol.asyncDispose]();
    throw error;
  }
}

async function startUpstream(port: number, control: number): Promise<AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-upstream-"));
  const scenario = join(folder, "upstream.yaml");
  writeFileSync(scenario, PROVIDER);
  const options = ["--port", `${port}`, "--control-port", `${control}`, "--control-token", "env:UPSTREAM_TOKEN"];
  const upstream = startGauntlet(["upstream", ...options, "--scenario", scenario], { UPSTREAM_TOKEN: TOKEN });
  await upstream.printed(/"event":"ready".*\n/);
  return {
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The store of the replicas is stopped by a program that locks its file. */
function writeStoreScripts(folder: string): void {
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  };
  write(
    "lock-store.mjs",
    `import Database from "${import.meta.resolve("libsql")}";
const store = new Database("shared.db");
store.exec("PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE");
console.log("locked");
// Used again, so that it is not collected as garbage and closed.
setInterval(() => store.prepare("SELECT 1").get(), 1_000);
`,
  );
  write(
    "stop-store.sh",
    `#!/bin/sh
"${process.execPath}" lock-store.mjs > lock.log 2>&1 &
echo $! > lock.pid
until grep -q locked lock.log; do kill -0 $(cat lock.pid) || exit 1; sleep 0.05; done
`,
  );
  write("start-store.sh", `#!/bin/sh\nkill $(cat lock.pid)\n`);
}
