// real-time: sends load, and judges how much of it was served in time
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readHistogramLog } from "../../../reports/index.ts";
import { SHARD_FILE } from "../../../src/load/index.ts";
import type { RunRecord } from "../../../src/record/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const KEY = "sk-shards-0123456789abcdef";
const TTFT_MS = 40;
const GAP_MS = 15;
const RATE_PER_S = 30;
const DURATION_S = 6;
const REQUESTS = RATE_PER_S * DURATION_S;
/** Processes that are started together. */
const TOGETHER = 5;
/** Time to measure their clocks, and how much slower than the last time they may start. */
const CLOCK_MS = 5_000;
const SLOWER = 3;
const SHIFT_MS = 400;
const LATE_MS = 50;

async function listen(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(respond);
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Streams a few tokens, and counts requests by the run named in a header. */
async function streamingServer() {
  const sent = new Map<string, number>();
  const watchers = new Set<() => void>();
  const server = await listen((request, response) => {
    if (request.method !== "POST") return void response.end();
    const run = String(request.headers["x-run"]);
    sent.set(run, (sent.get(run) ?? 0) + 1);
    for (const watch of watchers) watch();
    request.resume();
    request.on("end", () => void stream(response));
  });
  return {
    ...server,
    sent,
    reached: (run: string, count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if ((sent.get(run) ?? 0) >= count) resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

async function stream(response: ServerResponse): Promise<void> {
  const event = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  event({ role: "assistant", content: "" });
  await delay(TTFT_MS);
  for (const content of ["one", " two", " three"]) {
    event({ content });
    await delay(GAP_MS);
  }
  event({}, "stop");
  response.end("data: [DONE]\n\n");
}

/** A fast clock, as shown by its Date header. */
const shiftedClock = () =>
  listen((_, response) => {
    response.sendDate = false;
    response.setHeader("date", new Date(Date.now() + SHIFT_MS).toUTCString());
    response.end();
  });

interface Merged {
  readonly code: number | null;
  readonly document: Document;
  readonly stderr: string;
}

interface Fixture {
  readonly path: string;
  readonly args: (run: string, more: readonly string[]) => string[];
  readonly merge: (name: string, ...runs: string[]) => Promise<Merged>;
  /** All shards combined. */
  readonly merged: Merged;
  readonly record: (run: string) => RunRecord;
  readonly sent: ReadonlyMap<string, number>;
}

interface Document {
  readonly verdict: string;
  readonly exitCode: number;
  readonly headline: string;
  readonly reasons: readonly { readonly text: string }[];
  readonly phases: readonly Phase[];
  readonly generator: { readonly valid: boolean; readonly problems: readonly string[] };
  readonly instances: readonly {
    readonly name: string;
    readonly complete: boolean;
    readonly lateMs?: number;
    readonly problems?: readonly string[];
  }[];
  readonly shard?: { readonly index: number; readonly of: number };
}

type Phase = NonNullable<RunRecord["load"]>["runs"][number]["phases"][number];

const opened: (AsyncDisposable | Disposable)[] = [];
function use<T extends AsyncDisposable | Disposable>(one: T): T {
  opened.push(one);
  return one;
}

let fixture: Fixture;
/** What each run printed and how it exited. */
const ended = new Map<string, { code: number | null; stdout: string; stderr: string }>();

beforeAll(async () => {
  const folder = use(temporaryFolder());
  const server = use(await streamingServer());
  const clock = use(await shiftedClock());
  const workload = join(folder.path, "workload.yaml");
  writeFileSync(
    workload,
    JSON.stringify({
      name: "shared",
      arrivals: { kind: "poisson", ratePerS: RATE_PER_S, durationS: DURATION_S },
      mix: [{ dialect: "chat", stream: true }],
    }),
  );
  const args = (run: string, more: readonly string[]) => {
    const target = join(folder.path, `${run}-target.yaml`);
    const models = { chat: "m", stream: "m" };
    const configuration = { baseUrl: `${server.url}/v1`, keys: { valid: "env:SHARD_KEY" }, models };
    writeFileSync(target, JSON.stringify({ ...configuration, extraHeaders: { all: { "X-Run": run } } }));
    return ["load", workload, "--target", target, "--json", "--out", join(folder.path, run), ...more];
  };
  const environment = { SHARD_KEY: KEY };
  const start = (run: string, more: readonly string[]) => {
    const running = use(startGauntlet(args(run, more), environment));
    return { ...running, done: running.finished.then((finished) => ended.set(run, finished)) };
  };
  const fromMs = performance.now();
  await Promise.all(Array.from({ length: TOGETHER }, () => gauntlet(args("dry", ["--dry-run"]), environment)));
  const aheadMs = CLOCK_MS + SLOWER * (performance.now() - fromMs);
  const startAt = new Date(Date.now() + aheadMs).toISOString();
  const shard = (run: string, share: string, ...more: string[]) =>
    start(run, ["--shard", share, "--start-at", startAt, ...more]);
  const killed = shard("killed", "2/3");
  const running = [
    shard("one", "1/3"),
    shard("two", "2/3"),
    shard("three", "3/3"),
    shard("off", "3/3", "--time-source", clock.url),
  ];
  await server.reached("killed", 5);
  killed.child.kill("SIGKILL");
  const late = shard("late", "2/3");
  await Promise.all([...running, late, killed].map(({ done }) => done));
  // The shards' common seed, in one process alone.
  const { seed } = JSON.parse(readFileSync(join(folder.path, "one", "run.json"), "utf8"));
  await start("alone", ["--seed", String(seed)]).done;
  const merge = async (name: string, ...runs: string[]): Promise<Merged> => {
    const dirs = runs.map((run) => join(folder.path, run));
    const out = join(folder.path, name);
    // A test may be repeated.
    rmSync(out, { recursive: true, force: true });
    const { code, stdout, stderr } = await gauntlet(["merge", ...dirs, "--out", out, "--json"]);
    return { code, stderr, document: JSON.parse(stdout) };
  };
  fixture = {
    path: folder.path,
    args,
    sent: server.sent,
    record: (run) => JSON.parse(readFileSync(join(folder.path, run, "run.json"), "utf8")),
    merge,
    merged: await merge("merged", "three", "one", "two"),
  };
}, 240_000);

afterAll(async () => {
  for (const one of opened.reverse()) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
});

const onlyPhase = ({ load }: Pick<RunRecord, "load">): Phase => load?.runs[0]?.phases[0] as Phase;
const totals = ({ offered, sent, admitted, denied, failed, dropped }: Phase) => ({
  offered,
  sent,
  admitted,
  denied,
  failed,
  dropped,
});
const texts = ({ reasons = [] }: Partial<Document>) => reasons.map(({ text }) => text).join("\n");
/** Effects of a busy machine on any shard. */
const OF_MACHINE =
  /^(?:sends were late|the event loop stood|other processes used|began \d+ ms late|its clock is only known to|\d+ of its arrivals)/;

/** A pass, or the same on a busy machine: only the generators' delay prevented it. */
function expectPass(code: number | null | undefined, document: Document, said = ""): void {
  if (code === 0 && document.verdict === "pass") return;
  expect([code, document.verdict], `${said}${texts(document)}`).toEqual([4, "inconclusive"]);
  const { valid, problems } = document.generator;
  expect(valid).toBe(false);
  expect(problems.filter((problem) => !OF_MACHINE.test(problem.replace(/^shard \d\/\d: /, "")))).toEqual([]);
}

describe("shards of a load", () => {
  test("together send what one process sends, with its first tokens", async () => {
    const { code, document, stderr } = fixture.merged;
    expectPass(code, document, stderr);
    const merged = onlyPhase(fixture.record("merged"));
    const alone = onlyPhase(fixture.record("alone"));
    const isOnTime = document.instances.every(({ lateMs = 0 }) => lateMs <= LATE_MS);
    if (isOnTime) expect(totals(merged)).toEqual(totals(alone));
    else expect([merged.offered, merged.sent + merged.dropped]).toEqual([alone.offered, alone.sent]);
    expect(Math.abs(merged.sent - REQUESTS)).toBeLessThan(REQUESTS / 2);
    const counted = (run: string) => fixture.sent.get(run) ?? 0;
    expect(counted("one") + counted("two") + counted("three")).toBe(merged.sent);
    // Offered requests by the second in which they were due: the schedule itself, not its results.
    const offered = ({ series }: Phase) => series.map((second) => second.offered).filter((count) => count > 0);
    expect(offered(merged)).toEqual(offered(alone));
    const [ours, its] = [merged.classes[0]?.ttftMs, alone.classes[0]?.ttftMs];
    expect(ours?.p50).toBeGreaterThan(TTFT_MS - 5);
    expect(Math.abs((ours?.p50 ?? 0) - (its?.p50 ?? 0))).toBeLessThan(TTFT_MS);
    expect(document.instances.map(({ name, complete }) => [name, complete])).toEqual([
      ["shard 1/3", true],
      ["shard 2/3", true],
      ["shard 3/3", true],
    ]);
    expect(document).toMatchObject({ exitCode: code, kind: "workload", engine: "native" });
  });

  test("lose nothing when their histograms are added", async () => {
    const log = (run: string) => {
      const text = readFileSync(join(fixture.path, run, "load.hlog"), "utf8");
      return readHistogramLog(text);
    };
    const [one, two, three, merged] = ["one", "two", "three", "merged"].map(log);
    const parts = [one, two, three];
    const tags = [...(merged ?? new Map()).keys()];
    expect(tags).toContain("shared.chat.streaming.admitted.ttft");
    for (const tag of tags) {
      const sum = parts.map((part) => part?.get(tag)).filter((found) => found !== undefined);
      const [first, ...others] = sum;
      for (const other of others) first?.merge(other);
      expect(first?.count, tag).toBe(merged?.get(tag)?.count);
      for (const share of [0.5, 0.9, 0.99, 0.999])
        expect(first?.quantileUs(share), tag).toBe(merged?.get(tag)?.quantileUs(share));
    }
  });

  test("each say that they are a share, and are judged by it", () => {
    const two = ended.get("two");
    const document: Document = JSON.parse(two?.stdout ?? "");
    expectPass(two?.code, document, two?.stderr);
    expect(document.shard).toEqual({ index: 2, of: 3 });
    expect(document.headline).toContain("(shard 2/3)");
    expect(readFileSync(join(fixture.path, "two", SHARD_FILE), "utf8")).not.toContain(KEY);
  });

  test("make a folder like that of any load", async () => {
    const merged = join(fixture.path, "merged");
    const html = readFileSync(join(merged, "report.html"), "utf8");
    expect(html).toContain("3 processes sent shared");
    for (const index of [1, 2, 3]) expect(html).toContain(`shard ${index}/3`);
    const [report, again, compared] = await Promise.all([
      gauntlet(["report", merged, "--print", "markdown"]),
      gauntlet(["rejudge", merged, "--json"]),
      gauntlet(["compare", merged, join(fixture.path, "alone"), "--json"]),
    ]);
    expect([report.code, report.stdout.includes("shared")], report.stderr).toEqual([0, true]);
    expect(JSON.parse(again.stdout), again.stderr).toMatchObject({
      verdict: fixture.merged.document.verdict,
      changed: [],
    });
    expect(JSON.parse(compared.stdout), compared.stderr).not.toHaveProperty("error");
    expect(fixture.record("merged").checks.some(({ id }) => id.startsWith("load.shared.shared."))).toBe(true);
  });

  test.each<[name: string, runs: string[], says: RegExp]>([
    ["a missing one", ["one", "three"], /shard 2\/3 was not merged/],
    ["one that was killed", ["one", "killed", "three"], /shard 2\/3 was killed before its end/],
    ["one that began late", ["one", "late", "three"], /shard 2\/3: began \d+ ms late, limit 50 ms/],
    ["one whose clock is off", ["one", "two", "off"], /shard 3\/3: its clock is at least [1-4]\d\d ms off/],
  ])("name %s, and then pass nothing", async (name, runs, says) => {
    const { code, document } = await fixture.merge(name.replaceAll(" ", "-"), ...runs);
    expect([code, document.verdict], texts(document)).toEqual([4, "inconclusive"]);
    expect(texts(document)).toMatch(says);
    expect(document.instances).toHaveLength(3);
    // If the shards together still pass, the message names the file that was exchanged.
    if (fixture.merged.code !== 0) return;
    const named = document.instances.filter(({ complete, problems = [] }) => !complete || problems.length > 0);
    expect(named.map((one) => one.name)).toEqual([/shard \d\/\d/.exec(says.source.replaceAll("\\", ""))?.[0]]);
  });

  test("join the schedule late: earlier arrivals are dropped and counted", () => {
    const late = onlyPhase(fixture.record("late"));
    expect(late.offered).toBe(onlyPhase(fixture.record("two")).offered);
    expect(late.dropped).toBeGreaterThan(0);
    expect(late.sent).toBe(fixture.sent.get("late") ?? 0);
    expect(late.sent + late.dropped).toBe(late.offered);
  });

  test("of different loads are rejected, with both named", async () => {
    const other = join(fixture.path, "copy");
    cpSync(join(fixture.path, "one"), other, { recursive: true });
    const merge = (...runs: string[]) =>
      gauntlet(["merge", ...runs.map((run) => join(fixture.path, run)), "--out", join(fixture.path, "refused")]);
    const twice = await merge("one", "copy", "two");
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringMatching(/one and .*copy are both shard 1\/3/)]);
    const noShard = await merge("one", "alone");
    expect([noShard.code, noShard.stderr]).toEqual([2, expect.stringMatching(/alone is not the folder of a shard/)]);
    writeFileSync(join(other, SHARD_FILE), "{");
    const broken = await merge("copy", "two");
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringMatching(/shard\.json cannot be read/)]);
    rmSync(other, { recursive: true });
    const seeded = await gauntlet(
      fixture.args("seeded", ["--shard", "2/3", "--start-at", "2026-01-01T00:00:00Z", "--seed", "5"]),
      { SHARD_KEY: KEY },
    );
    expect(seeded.code, seeded.stderr).toBe(4);
    const different = await merge("one", "seeded");
    expect([different.code, different.stderr]).toEqual([
      2,
      expect.stringMatching(/one and .*seeded belong to different/),
    ]);
    expect(existsSync(join(fixture.path, "refused"))).toBe(false);
  });
});
