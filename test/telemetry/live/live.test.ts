// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Folder, gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { listening } from "../../support/listening.ts";
import { readMetrics } from "../../support/readers.ts";

/** Ends on its own within a second. */
const SHORT =
  "name: short\narrivals: { kind: constant, ratePerS: 40, durationS: 1 }\nmix: [{ dialect: chat, maxTokens: 8 }]\n";
/** Continues until it is interrupted. */
const LONG =
  "name: long\narrivals: { kind: closed, inFlight: 3, durationS: 300 }\nmix: [{ dialect: messages, stream: true }]\n";

function workloads(): Folder & { readonly short: string; readonly long: string } {
  const folder = temporaryFolder();
  const short = join(folder.path, "short.yaml");
  const long = join(folder.path, "long.yaml");
  writeFileSync(short, SHORT);
  writeFileSync(long, LONG);
  return { ...folder, short, long };
}

/** The value of a counter of one run. */
function counted(text: string, name: string, run: string): number {
  const family = readMetrics(text).find((one) => one.name === name);
  const metric = family?.metrics.find(({ labels }) => labels?.["run"] === run);
  return Number(metric?.value ?? Number.NaN);
}

/** Polls until the result is as expected. */
async function until<T>(read: () => Promise<T>, isExpected: (got: T) => boolean): Promise<T> {
  for (;;) {
    const got = await read();
    if (isExpected(got)) return got;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Status of a request that names another host than the one it is sent to. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const requested = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    requested.on("error", reject);
    requested.end();
  });
}

test("--metrics-port: counters grow during the run, and end with the record's values", async () => {
  using folder = workloads();
  const out = join(folder.path, "run");
  const what = ["load", folder.short, folder.long, "--target", "embedded"];
  await using run = startGauntlet([...what, "--metrics-port", "0", "--json", "--out", out]);
  const printed = await run.printed(/http:\/\/127\.0\.0\.1:\d+\/metrics/);
  const url = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(printed)?.[0] ?? "";
  const scrape = async () => (await fetch(url)).text();
  const first = await until(scrape, (text) => counted(text, "gauntlet_admitted_requests", "long") > 0);
  const longFirst = counted(first, "gauntlet_admitted_requests", "long");
  // The short one has ended when all offered requests have been admitted; the long one has grown in the meantime.
  const second = await until(
    scrape,
    (text) =>
      counted(text, "gauntlet_admitted_requests", "short") === 40 &&
      counted(text, "gauntlet_admitted_requests", "long") > longFirst,
  );
  expect(counted(second, "gauntlet_in_flight", "long")).toBeGreaterThan(0);
  expect(await statusFor(url, "gateway.example")).toBe(403);
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  expect((await fetch(url)).headers.get("content-security-policy")).toContain("default-src 'none'");
  run.child.kill("SIGINT");
  const { stdout } = await run.finished;
  const [short] = JSON.parse(stdout).runs;
  const [phase] = short.phases;
  for (const count of ["offered", "admitted", "denied", "failed", "dropped"])
    expect(counted(second, `gauntlet_${count}_requests`, "short"), count).toBe(phase[count]);
  const metricOf = (name: string, labels: object) =>
    readMetrics(second)
      .find((family) => family.name === name)
      ?.metrics.find((metric) => expect.objectContaining(labels).asymmetricMatch(metric.labels))?.value;
  const admitted = { run: "short", dialect: "chat", stream: "false", outcome: "admitted" };
  expect(metricOf("gauntlet_response_seconds_count", admitted)).toBe("40");
  expect(Number(metricOf("gauntlet_response_seconds", { ...admitted, quantile: "0.99" }))).toBeCloseTo(
    phase.classes[0].responseMs.p99 / 1_000,
    9,
  );
});

describe("refused before anything is sent", () => {
  test.each([
    [["--metrics-port", "0", "--engine", "autocannon"], /--metrics-port needs the native engine/],
    [["--live", "--engine", "autocannon"], /--live needs the native engine/],
    [["--otlp", "127.0.0.1:4318"], /--otlp takes the http or https address/],
    [["--otlp", "http://127.0.0.1:4318", "--engine", "autocannon"], /--otlp needs the native engine/],
    [["--live-port", "0"], /--live-port/],
    [["--metrics-port", "70000"], /--metrics-port takes a whole number from 0 to 65535/],
  ])("%j", async (options, says) => {
    using folder = workloads();
    const { code, stderr } = await gauntlet(["load", folder.long, "--target", "embedded", ...options]);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/at most [\d,]+ requests/);
    expect(code).toBe(2);
  });

  test("a port that is taken", async () => {
    using folder = workloads();
    const other = createServer();
    await using _ = await listening(other, () => undefined);
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await gauntlet(
      ["load", folder.long, "--target", "embedded", "--metrics-port", String(port)],
      {},
      folder.path,
    );
    expect(stderr).toMatch(new RegExp(`port ${port} of 127.0.0.1 cannot be used`));
    expect(code).toBe(2);
  });
});
