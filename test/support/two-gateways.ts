import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startBalancer } from "./balancer.ts";
import { MAIN } from "./gauntlet.ts";

const KEY = "sk-two-gateways-0123456789abcdef";

export interface TwoGateways extends AsyncDisposable {
  /** Has `start.sh NAME [ARGS]`, `roll.sh [ARGS]`, `a.pid`, `b.pid` and `target.yaml`. */
  readonly folder: string;
  readonly environment: Record<string, string>;
  /** Writes a workload file. @returns its path. */
  workload(text: string): string;
}

export interface TwoGatewaysOptions {
  /** Requests per minute:requests in flight. */
  readonly limits?: string;
  /** Whether they share their state. */
  readonly shared?: boolean;
  /** Lines of the target file: `models`, and further actions of `disturb`. */
  readonly models?: string;
  readonly disturb?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const MODELS = "{ chat: echo-fast, messages: echo-fast, stream: echo-stream }";

/**
 * Two reference gateways, each a process of its own, behind a balancer on one address that connects to them in turn, and to the other
 * one if one does not accept. `roll.sh` restarts one after the other, each with SIGTERM.
 *
 * @param args of both gateways, for example `--drain 0`.
 */
export async function startTwoGateways(
  args = "--drain 5000",
  { limits = "60000:500", shared = false, models = MODELS, disturb = "", environment = {} }: TwoGatewaysOptions = {},
): Promise<TwoGateways> {
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-two-gateways-"));
  const [portA, portB] = [await freePort(), await freePort()];
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    if (name.endsWith(".sh")) chmodSync(join(folder, name), 0o755);
    return join(folder, name);
  };
  write("keys.json", JSON.stringify({ valid: KEY }));
  write(
    "start.sh",
    `#!/bin/sh
name=$1; shift
case $name in a) port=${portA} ;; b) port=${portB} ;; esac
"${process.execPath}" "${MAIN}" gateway --port $port --keys keys.json --limits ${limits}${shared ? " --shared shared.db" : ""} ${args} "$@" > $name.log 2>&1 &
echo $! > $name.pid
until grep -q ready $name.log; do kill -0 $(cat $name.pid) || exit 1; sleep 0.05; done
`,
  );
  write(
    "roll.sh",
    `#!/bin/sh
for name in a b; do
  kill -TERM $(cat $name.pid)
  while kill -0 $(cat $name.pid) 2> /dev/null; do sleep 0.05; done
  ./start.sh $name "$@" || exit 1
done
echo "restarted, not shown: ${KEY}"
`,
  );
  const balancer = await startBalancer([portA, portB]);
  const { port } = balancer;
  write(
    "target.yaml",
    `name: two-gateways
baseUrl: http://127.0.0.1:${port}/v1
keys: { valid: env:KEY }
models: ${models}
disturb:
  roll: ./roll.sh
  kill: { signal: { pidFile: a.pid, name: KILL } }
  start: ./start.sh a
${disturb}`,
  );
  for (const name of ["a", "b"]) {
    const { status, stderr } = spawnSync("sh", ["start.sh", name], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (status !== 0) throw new Error(`gateway ${name} did not start: ${stderr}`);
  }
  return {
    folder,
    environment: { KEY, ...environment },
    workload: (text) => write("workload.yaml", text),
    async [Symbol.asyncDispose]() {
      for (const name of ["a", "b"]) {
        const file = join(folder, `${name}.pid`);
        if (!existsSync(file)) continue;
        try {
          process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
        } catch {
          // A test has ended it.
        }
      }
      balancer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
