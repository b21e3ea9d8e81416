// real-time: ends processes at a moment of their work
import { writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readRun } from "../../../src/record/index.ts";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { listening } from "../../support/listening.ts";

let gateway: Running;
let upstream: { readonly port: number; readonly key: string };

beforeAll(async () => {
  gateway = startGauntlet(["gateway", "--with-upstream"]);
  const { baseUrl, keys } = JSON.parse(await gateway.printed("\n"));
  upstream = { port: Number(new URL(baseUrl).port), key: keys.valid };
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** What the gateway's proxy does with the request at which it breaks. */
interface Front {
  /** Stops reading and responding, on all connections. */
  freeze(): void;
  thaw(): void;
  /** Resets every connection and stops listening. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** The connection of the request. */
  readonly socket: Socket;
}

/** Forwards bytes to the reference gateway until a request contains a given text. */
async function startProxy(text: RegExp, breakBy: (front: Front) => void) {
  const clients = new Set<Socket>();
  let frozen = false;
  let broken = false;
  let brokenAtMs = 0;
  const server = createServer((socket) => {
    clients.add(socket);
    const behind = connect(upstream.port, "127.0.0.1");
    const end = () => {
      clients.delete(socket);
      behind.destroy();
      socket.destroy();
    };
    for (const one of [socket, behind]) one.on("error", end).on("close", end);
    if (frozen) socket.pause();
    behind.on("data", (bytes) => !frozen && socket.write(bytes));
    socket.on("data", (bytes) => {
      if (!broken && text.test(bytes.toString("latin1"))) {
        broken = true;
        brokenAtMs = performance.now();
        breakBy({ freeze, thaw, crash, restart, socket });
        return;
      }
      if (!frozen) behind.write(bytes);
    });
  });
  const open = await listening(server, () => {
    for (const client of clients) client.destroy();
  });
  const { port } = new URL(open.origin);
  const freeze = () => {
    frozen = true;
    for (const client of clients) client.pause();
  };
  const thaw = () => {
    frozen = false;
    for (const client of clients) client.resume();
  };
  const crash = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const client of clients) client.resetAndDestroy();
    await closed;
  };
  const restart = () => new Promise<void>((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
  return { ...open, sinceBrokenMs: () => performance.now() - brokenAtMs, isBroken: () => broken };
}

async function conform(text: RegExp, breakBy: (front: Front) => void, args: readonly string[]) {
  await using front = await startProxy(text, breakBy);
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${front.origin}/v1\nkeys: { valid: env:K }\nlimits: { rpm: 6000, inFlight: 256 }\n`,
  );
  const out = join(folder.path, "run");
  const { code, stdout } = await gauntlet(
    ["conform", ...args, "--target", "t.yaml", "--out", out],
    { K: upstream.key },
    folder.path,
  );
  expect(front.isBroken()).toBe(true);
  return { code, stdout, record: readRun(out).record, afterMs: front.sinceBrokenMs() };
}

const SUITES = ["models", "chat", "messages", "robustness"];
const HEAD = /^HEAD \/v1\/models/;

describe.concurrent("a gateway that no longer responds to anything", () => {
  const ways: readonly (readonly [string, (front: Front) => void])[] = [
    ["hangs", ({ freeze }) => freeze()],
    ["crashes", ({ crash }) => void crash()],
  ];
  test.each(ways)(
    "%s: the run ends, names what was in flight, and blames nothing else",
    { timeout: 180_000 },
    async (_, breakBy) => {
      const { code, stdout, record, afterMs } = await conform(HEAD, breakBy, SUITES);
      const [first] = record.verdict.reasons;
      expect(first?.text).toMatch(
        /^the gateway stopped responding after x\w+; in flight at that moment: .*HEAD \/v1\/models/,
      );
      expect(stdout).toContain("the gateway stopped responding after");
      const failed = record.checks.filter(({ status }) => status === "fail");
      expect(failed.map(({ id, message }) => `${id}: ${message}`)).toEqual([
        expect.stringMatching(/^robustness\.keeps-responding: the gateway stopped responding after x/),
      ]);
      expect(
        record.checks.filter(({ message }) => message.startsWith("not judged: the gateway stopped")).length,
      ).toBeGreaterThan(3);
      expect(code).toBe(1);
      expect(afterMs).toBeLessThan(35_000);
    },
  );
});

test.concurrent("a gateway that stops is a failure, whatever was selected", { timeout: 120_000 }, async () => {
  const { code, record } = await conform(/^POST \/v1\/messages/, ({ freeze }) => freeze(), ["chat", "messages"]);
  expect(record.verdict.reasons[0]?.text).toMatch(/^the gateway stopped responding after x/);
  expect(record.checks.find(({ id }) => id === "robustness.keeps-responding")?.status).toBe("fail");
  expect(record.notSelected).not.toContain("robustness.keeps-responding");
  expect(code).toBe(1);
});

describe.concurrent("a gateway that responds again", () => {
  const ways: readonly (readonly [string, (front: Front) => void])[] = [
    [
      "after a stall of six seconds",
      ({ freeze, thaw }) => {
        freeze();
        setTimeout(thaw, 6_000);
      },
    ],
    ["after a restart", ({ crash, restart }) => void crash().then(() => setTimeout(restart, 3_000))],
    ["but for one request", () => undefined],
    ["but for one request that is reset", ({ socket }) => void socket.resetAndDestroy()],
  ];
  test.each(ways)("%s has not stopped", { timeout: 240_000 }, async (_, breakBy) => {
    const { record } = await conform(HEAD, breakBy, SUITES);
    const stopped = record.checks.filter(({ message }) => message.includes("stopped responding"));
    expect(stopped.map(({ id }) => id)).toEqual([]);
    const keeps = record.checks.find(({ id }) => id === "robustness.keeps-responding");
    expect(keeps?.status).toBe("pass");
    expect(record.complete).toBe(true);
  });
});
