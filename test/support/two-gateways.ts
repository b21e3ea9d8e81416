import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAIN } from "./gauntlet.ts";

const KEY = "sk-two-gateways-0123456789abcdef";

export interface TwoGateways extends AsyncDisposable {
  /** Has `start.sh NAME [ARGS]`, `roll.sh [ARGS]`, `a.pid`, `b.pid` and `target.yaml`. */
  readonly folder: string;
  readonly environment: Record<string, string>;
  /** Writes a workload file. @returns its path. */
  workload(text: string): string;
}

/**
 * Two reference gateways, each in its own process, behind a balancer on one address that connects to the first one that accepts.
 * `roll.sh` restarts one after the other, each with SIGTERM.
 *
 * @param args of both gateways, for example `--drain 0`.
 */
export async function startTwoGateways(args = "--drain 5000"): Promise<TwoGateways> {
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
"${process.execPath}" "${MAIN}" gateway --port $port --keys keys.json --limits 60000:500 ${args} "$@" > $name.log 2>&1 &
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
  const balancer = startBalancer([portA, portB]);
  await once(balancer.server, "listening");
  const { port } = balancer.server.address() as AddressInfo;
  write(
    "target.yaml",
    `name: two-gateways
baseUrl: http://127.0.0.1:${port}/v1
keys: { valid: env:KEY }
models: { chat: echo-fast, messages: echo-fast, stream: echo-stream }
disturb:
  roll: ./roll.sh
  kill: { signal: { pidFile: a.pid, name: KILL } }
  start: ./start.sh a
`,
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
    environment: { KEY },
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function startBalancer(ports: readonly number[]): { readonly server: Server; close(): void } {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    sockets.add(client);
    client.on("error", () => undefined).on("close", () => sockets.delete(client));
    const attempt = ([port, ...others]: readonly number[]): void => {
      if (port === undefined) return void client.destroy();
      const gateway = connect({ port, host: "127.0.0.1", noDelay: true });
      const next = () => attempt(others);
      gateway.once("error", next).once("connect", () => {
        gateway.off("error", next);
        // A gateway that is killed resets its connections, and so does the balancer.
        gateway.on("error", () => client.resetAndDestroy());
        client.on("close", () => gateway.destroy());
        client.pipe(gateway).pipe(client);
      });
    };
    attempt(ports);
  });
  server.listen(0, "127.0.0.1");
  return {
    server,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
