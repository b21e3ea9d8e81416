// How much load the reference gateway handles on one core: plain requests per second, and streams in flight.
//
//   npm run build && npx tsc -p tsconfig.json --noEmit false --outDir dist/bench && node dist/bench/bench/gateway-throughput.js
//
// The gateway runs in a separate process; the load comes from this one, over raw sockets, to keep the client cheap. On Linux with
// `taskset` the gateway is pinned to the first core and the client to the second.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { cpus } from "node:os";
import { createInterface } from "node:readline";

const MAIN = process.env["GAUNTLET_MAIN"] ?? "dist/src/main.js";
const CONNECTIONS = 64;
const WARM_UP_MS = 1_500;
const MEASURED_MS = 6_000;
const ROUNDS = 3;

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly key: string;
}

/** Pins a process to a core: `PIN -c CORE command`. */
const PIN = process.env["PIN"] ?? "taskset";

const pinned = process.platform === "linux" && cpus().length > 1 && spawnSync(PIN, ["-V"]).status === 0;

async function startGateway(...options: readonly string[]): Promise<Running> {
  const command = [process.execPath, MAIN, "gateway", "--limits", "1000000:20000", ...options];
  const [file = "", ...args] = pinned ? [PIN, "-c", "0", ...command] : command;
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }), "line")) as [
    string,
  ];
  const ready = JSON.parse(line);
  return {
    child,
    port: Number(new URL(ready.baseUrl).port),
    adminUrl: ready.adminUrl,
    adminToken: ready.adminToken,
    key: ready.keys.valid,
  };
}

async function stop({ child }: Running): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** CPU time that a process has used, milliseconds; `undefined` if the system does not report it. */
function cpuMs(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

function peakRssMb(pid: number): number | undefined {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
  } catch {
    return undefined;
  }
}

function requestBytes(path: string, key: string, body: object): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      "Host: gateway",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(text)}`,
      "",
      text,
    ].join("\r\n"),
  );
}

const SAYS = [{ role: "user", content: "Say hello to everyone in the room" }];

/** Sends sequential requests on each connection. @returns requests per second and their times. */
async function plainRequests(gateway: Running, path: string, body: object) {
  const request = requestBytes(path, gateway.key, body);
  const times: number[] = [];
  let failed = 0;
  let measuring = false;
  let stopped = false;

  const drive = (socket: Socket) =>
    new Promise<void>((resolve) => {
      let sentMs = 0;
      let held = Buffer.alloc(0);
      const send = () => {
        if (stopped) {
          socket.destroy();
          resolve();
          return;
        }
        sentMs = performance.now();
        socket.write(request);
      };
      socket.on("data", (bytes) => {
        held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
        const head = held.indexOf("\r\n\r\n");
        if (head < 0) return;
        const text = held.toString("latin1", 0, head);
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        if (held.length < head + 4 + length) return;
        held = Buffer.alloc(0);
        if (!text.startsWith("HTTP/1.1 200")) failed += 1;
        if (measuring) times.push(performance.now() - sentMs);
        send();
      });
      socket.on("error", () => {
        failed += 1;
        resolve();
      });
      socket.on("connect", send);
    });

  const driven = Array.from({ length: CONNECTIONS }, () => drive(connect(gateway.port, "127.0.0.1").setNoDelay(true)));
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  measuring = true;
  const cpuBefore = cpuMs(gateway.child.pid ?? 0);
  const startMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, MEASURED_MS));
  measuring = false;
  const elapsedMs = performance.now() - startMs;
  const cpuAfter = cpuMs(gateway.child.pid ?? 0);
  stopped = true;
  await Promise.all(driven);
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    perS: (times.length / elapsedMs) * 1_000,
    cpuUs:
      cpuBefore === undefined || cpuAfter === undefined ? undefined : ((cpuAfter - cpuBefore) * 1_000) / times.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed,
  };
}

/** Opens many streams concurrently and reads them to their ends. */
async function streams(gateway: Running, count: number, rampMs: number) {
  const request = requestBytes("/v1/chat/completions", gateway.key, {
    model: "echo-stream",
    stream: true,
    messages: SAYS,
  });
  let events = 0;
  let complete = 0;
  let failed = 0;
  let open = 0;
  let peak = 0;
  const firstMs: number[] = [];
  const cpuBefore = cpuMs(gateway.child.pid ?? 0);
  const startMs = performance.now();

  const read = (delayMs: number) =>
    new Promise<void>((resolve) => {
      setTimeout(() => {
        const sentMs = performance.now();
        let begun = false;
        const socket = connect(gateway.port, "127.0.0.1", () => socket.write(request));
        socket.on("data", (bytes) => {
          if (!begun) {
            begun = true;
            open += 1;
            peak = Math.max(peak, open);
            firstMs.push(performance.now() - sentMs);
          }
          for (let at = bytes.indexOf("data: "); at >= 0; at = bytes.indexOf("data: ", at + 6)) events += 1;
          if (!bytes.includes("0\r\n\r\n")) return;
          complete += 1;
          socket.destroy();
        });
        socket.on("error", () => {
          failed += 1;
        });
        socket.on("close", () => {
          if (begun) open -= 1;
          resolve();
        });
      }, delayMs);
    });

  await Promise.all(Array.from({ length: count }, (_none, at) => read((at / count) * rampMs)));
  const elapsedMs = performance.now() - startMs;
  const cpuAfter = cpuMs(gateway.child.pid ?? 0);
  const sorted = firstMs.toSorted((one, other) => one - other);
  return {
    complete,
    failed,
    peak,
    events,
    elapsedMs,
    cpuShare: cpuBefore === undefined || cpuAfter === undefined ? undefined : (cpuAfter - cpuBefore) / elapsedMs,
    rssMb: peakRssMb(gateway.child.pid ?? 0),
    firstP99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const number = (value: number | undefined, digits = 0) => (value === undefined ? "?" : value.toFixed(digits));

async function main(): Promise<void> {
  const [cpu] = cpus();
  say(`machine: ${cpus().length} x ${cpu?.model ?? "unknown"}, Node ${process.versions.node}, ${process.platform}`);
  say(`cores: ${pinned ? "gateway on one, client on another" : "shared"}`);
  if (pinned) spawnSync(PIN, ["-cp", "1", String(process.pid)]);

  const kinds = [
    ["chat, whole", "/v1/chat/completions", { model: "echo-fast", messages: SAYS }],
    ["messages, whole", "/v1/messages", { model: "echo-fast", max_tokens: 64, messages: SAYS }],
    ["denied (unknown model)", "/v1/chat/completions", { model: "no-such-model", messages: SAYS }],
  ] as const;
  for (const [name, path, body] of kinds) {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const gateway = await startGateway();
      const { perS, cpuUs, p50Ms, p99Ms, failed } = await plainRequests(gateway, path, body);
      await stop(gateway);
      say(
        `${name}, round ${round}: ${number(perS)} requests/s, ${number(cpuUs)} us of gateway CPU each, ` +
          `p50 ${number(p50Ms, 1)} ms, p99 ${number(p99Ms, 1)} ms, ${failed} not 200`,
      );
    }
  }

  const loads = [
    [5_000, 20, 1_000, 4_000],
    [1_000, 100, 50, 1_000],
    [500, 250, 20, 500],
  ] as const;
  for (const [count, pieces, paceMs, rampMs] of loads) {
    const gateway = await startGateway("--pieces", String(pieces), "--pace", String(paceMs));
    const seen = await streams(gateway, count, rampMs);
    await stop(gateway);
    say(
      `${count} streams of ${pieces} pieces every ${paceMs} ms: ${seen.complete} complete, ${seen.failed} failed, ` +
        `peak ${seen.peak} in flight, ${number((seen.events / seen.elapsedMs) * 1_000)} events/s, ` +
        `whole run ${number(seen.elapsedMs / 1_000, 1)} s (ideal ${number((rampMs + pieces * paceMs) / 1_000, 1)} s), ` +
        `gateway CPU ${number((seen.cpuShare ?? Number.NaN) * 100)} % of a core, peak ${number(seen.rssMb)} MB, first byte p99 ${number(seen.firstP99Ms, 1)} ms`,
    );
  }
}

await main();
