// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { countingProxy, OTHER_HOST, RESOLVE_TO_LOOPBACK } from "../../support/counting-proxy.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const LIMITS = { rpm: 600, inFlight: 32 };
const WORKLOAD = "name: w\narrivals: { kind: constant, ratePerS: 50, durationS: 2 }\n";

interface Document {
  readonly exitCode: number;
  readonly checks: readonly { id: string; status: string; message: string; unblock?: string[] }[];
}

/** Runs a command against a gateway with the name of another host and no reserved account. */
async function onOtherHost(args: readonly string[], more = "") {
  using folder = temporaryFolder();
  await using gateway = await startGateway({ limits: LIMITS });
  await using proxy = await countingProxy(gateway.ready.baseUrl);
  const { port } = new URL(proxy.origin);
  const target = `baseUrl: http://${OTHER_HOST}:${port}/v1\nkeys: { valid: env:K }\nmodels: { chat: echo-fast, messages: echo-fast, stream: echo-stream, slow: slow }\nlimits: { rpm: 600, inFlight: 32 }\n${more}`;
  writeFileSync(join(folder.path, "t.yaml"), target);
  writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
  const { valid } = gateway.ready.keys;
  const ran = await gauntlet(args, { ...RESOLVE_TO_LOOPBACK, K: valid }, folder.path);
  const own = proxy.all.filter(({ key }) => key === valid);
  const denied = own.filter(({ status }) => status === 429);
  return { ...ran, sent: proxy.all.length, own, denied };
}

/** Maximum number of requests within any minute. */
function mostInAMinute(all: readonly { readonly atMs: number }[]): number {
  const times = all.map(({ atMs }) => atMs).sort((a, b) => a - b);
  return Math.max(0, ...times.map((from, at) => times.slice(at).filter((time) => time < from + 60_000).length));
}

describe.concurrent("another host, without a dedicated account or permission to load", () => {
  test.each<readonly string[]>([
    ["load", "w.yaml", "--target", "t.yaml"],
    ["load", "own", "--target", "t.yaml"],
    ["limits", "--target", "t.yaml"],
    ["capacity", "--objective", "failed < 1%", "--target", "t.yaml"],
    ["size", "w.yaml", "--verify", "--target", "t.yaml"],
    ["compare", "t.yaml", "t.yaml", "--pairs", "10", "--block-s", "1"],
    ["overhead", "--target", "t.yaml", "--direct", "t.yaml", "--anyway"],
  ])("%s sends nothing", async (...args) => {
    const { code, stderr, sent } = await onOtherHost(args);
    expect(stderr).toContain("Set `authorized: true` in the target file");
    expect([code, sent]).toEqual([2, 0]);
  });

  test("checks that reach a limit on purpose are blocked, with the lines to add", { timeout: 180_000 }, async () => {
    const args = ["conform", "limits", "retry-after", "--target", "t.yaml", "--out", "r", "--json"];
    const { code, stdout, own, denied } = await onOtherHost(args);
    const { checks } = JSON.parse(stdout) as Document;
    for (const id of ["limits.rate-enforced", "limits.concurrency-enforced", "retry-after.sufficient"]) {
      const check = checks.find((one) => one.id === id);
      expect(check).toMatchObject({ id, status: "blocked", message: expect.stringContaining("authorized: true") });
      expect(check?.unblock?.join("\n")).toMatch(/^limited:\n {2}- \{ key: env:/);
    }
    expect(denied).toEqual([]);
    expect(mostInAMinute(own)).toBeLessThan(LIMITS.rpm);
    expect(code).toBe(4);
  });

  test("with authorized: true they are run on the account of keys.valid", { timeout: 240_000 }, async () => {
    const args = ["conform", "--quick", "--only", "limits.rate-enforced", "--target", "t.yaml", "--json"];
    const { stdout, denied } = await onOtherHost(args, "authorized: true\n");
    const { checks } = JSON.parse(stdout) as Document;
    expect(checks.map(({ status }) => status)).toEqual(["pass"]);
    expect(denied.length).toBeGreaterThan(0);
  });
});
