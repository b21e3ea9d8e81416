import { describe, expect, test } from "vitest";
import type { ReadyLine } from "../../src/reference-gateway/index.ts";
import { gauntlet, startGauntlet } from "../support/gauntlet.ts";

type Started = ReadyLine & Required<Pick<ReadyLine, "addresses" | "replicas" | "shared">>;

async function start(...more: readonly string[]) {
  const gateway = startGauntlet(["gateway", ...more]);
  return { gateway, ready: JSON.parse(await gateway.printed("\n")) as Started };
}

function post(baseUrl: string, key: string, model = "echo-fast"): Promise<Response> {
  return fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
}

async function inFlight({ adminUrl, adminToken }: Pick<ReadyLine, "adminUrl" | "adminToken">): Promise<number> {
  const response = await fetch(`${adminUrl}/accounts`, { headers: { authorization: `Bearer ${adminToken}` } });
  const accounts = (await response.json()) as { name: string; inFlight: number }[];
  return accounts.find(({ name }) => name === "main")?.inFlight ?? -1;
}

describe("gauntlet gateway --replicas", () => {
  test("starts processes that share their limits, and one that takes over from a killed one", async () => {
    const { gateway, ready } = await start("--replicas", "2", "--limits", "12:3", "--slow", "60000");
    await using _ = gateway;
    const [one, other] = ready.replicas;
    if (one === undefined || other === undefined) throw new Error("two replicas are expected");
    expect(ready.addresses).toEqual([one.baseUrl, other.baseUrl]);
    expect(new Set([ready.pid, one.pid, other.pid]).size).toBe(3);
    const { valid } = ready.keys;

    // All slots of the account are held by one process, which is then killed.
    const held = Array.from({ length: 3 }, () => post(other.baseUrl, valid, "slow").catch(() => undefined));
    await expect.poll(() => inFlight(one)).toBe(3);
    expect((await post(one.baseUrl, valid)).headers.get("x-service-error-code")).toBe("concurrency_limit_exceeded");
    process.kill(other.pid, "SIGKILL");
    expect(await Promise.all(held)).toEqual([undefined, undefined, undefined]);
    await expect.poll(() => inFlight(one), { timeout: 5_000 }).toBe(0);

    const port = new URL(other.baseUrl).port;
    const again = await start("--shared", ready.shared, "--port", port, "--limits", "12:3");
    await using __ = again.gateway;
    expect(again.ready.baseUrl).toBe(other.baseUrl);
    const statuses: number[] = [];
    for (let index = 0; index < 10; index++)
      statuses.push((await post(index % 2 === 0 ? one.baseUrl : other.baseUrl, valid)).status);
    // Three of the twelve requests per minute were those of the killed process.
    expect(statuses).toEqual([...Array(9).fill(200), 429]);
  });

  test("is the target of a run with --replicas, and its evidence names each address", async () => {
    const command = ["conform", "--target", "embedded", "--replicas", "2", "--only", "replicas.models", "--json"];
    const { code, stdout } = await gauntlet(command);
    expect(code).toBe(0);
    const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string }[] };
    expect(checks).toMatchObject([{ id: "replicas.models", status: "pass" }]);
  });

  test("keeps the connections that checks compare at one address", { timeout: 60_000 }, async () => {
    const only = ["robustness.keep-alive"].flatMap((id) => ["--only", id]);
    const { stdout } = await gauntlet(["conform", "--target", "embedded", "--replicas", "2", ...only, "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string }[] };
    expect(checks.length).toBeGreaterThanOrEqual(4);
    expect(checks.filter(({ status }) => status !== "pass")).toEqual([]);
  });

  test("the suite does not apply to one address", async () => {
    const { stdout } = await gauntlet(["conform", "--target", "embedded", "--only", "replicas.models", "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string }[] };
    expect(checks).toMatchObject([{ id: "replicas.models", status: "not-applicable" }]);
  });

  test.each<[what: string, args: readonly string[], problem: string]>([
    ["one replica too few", ["--replicas", "0"], '--replicas takes a whole number from 2 to 16, not "0"'],
    ["a data file", ["--replicas", "2", "--data", "x.db"], "--data cannot be combined with --replicas"],
    ["providers", ["--replicas", "2", "--with-upstream"], "--with-upstream cannot be combined with --replicas"],
    ["an unknown mutation", ["--replicas", "2", "--mutation", "no.such"], 'no mutation "no.such"'],
  ])("rejects %s", async (_what, args, problem) => {
    const { code, stderr } = await gauntlet(["gateway", ...args]);
    expect(stderr).toContain(problem);
    expect(code).toBe(2);
  });
});
