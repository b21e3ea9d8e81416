// real-time: checks fill the limits of a minute and wait for Retry-After
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const ONLY = ["--only", "spending.budget-failures-are-free", "--only", "spending.budget-sets-in"];

/** A run with a static key whose budget pays for this many of the reference gateway's smallest requests. */
async function withBudgetFor(
  requests: number,
  { mutation = [], spent = 0 }: { mutation?: readonly string[]; spent?: number } = {},
) {
  using folder = temporaryFolder();
  await using gateway = startGauntlet(["gateway", ...mutation.flatMap((name) => ["--mutation", name])]);
  const ready = JSON.parse(await gateway.printed("\n"));
  const call = async (path: string, body: object) => {
    const response = await fetch(ready.adminUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${ready.adminToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, string>;
  };
  const { account } = await call("/keys/find", { key: ready.keys.valid });
  const { key = "" } = await call("/keys", { account, budgetMicroUsd: 115 * requests - 20 });
  for (let sent = 0; sent < spent; sent++)
    await fetch(`${ready.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "echo-fast",
        messages: [{ role: "user", content: `Please repeat: ${"x".repeat(400)}` }],
      }),
    }).then((response) => response.text());
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${ready.baseUrl}
keys: { valid: env:GW_KEY, childSmall: env:GW_CHILD_SMALL }
models: { chat: echo-fast, messages: echo-fast, upstreamError: fail-500 }
limits: { rpm: 6000, inFlight: 256 }
`,
  );
  const keys = { GW_KEY: ready.keys.valid, GW_CHILD_SMALL: key };
  const { stdout } = await gauntlet(["conform", ...ONLY, "--target", "t.yaml", "--json"], keys, folder.path);
  const { checks, verdict } = JSON.parse(stdout) as {
    verdict: string;
    checks: { id: string; status: string; message: string; unblock: string[] }[];
  };
  const [setsIn, free] = ["spending.budget-sets-in", "spending.budget-failures-are-free"].map((id) =>
    checks.find((check) => check.id === id),
  );
  return { setsIn, free, verdict };
}

test.concurrent("a budget that the run's valid requests use up is not a failure of the gateway", {
  timeout: 120_000,
}, async () => {
  const runs = [1, 2].map(async (requests) => ({ requests, ...(await withBudgetFor(requests)) }));
  for (const { requests, setsIn, free, verdict } of await Promise.all(runs)) {
    expect(setsIn?.status).toBe("pass");
    expect(free?.status, free?.message).toBe(requests === 1 ? "blocked" : "pass");
    expect(verdict).toBe(requests === 1 ? "inconclusive" : "pass");
    if (requests > 1) continue;
    expect(free?.message).toContain("a fresh key is needed");
    expect(free?.unblock).toEqual([
      "keys:",
      "  childSmall: env:GW_CHILD_SMALL # a new key, with room for several small requests; or a provision command makes one for each check",
    ]);
  }
});

test.concurrent("a key that an earlier run used up blocks what needs a fresh one", { timeout: 60_000 }, async () => {
  const { setsIn, free } = await withBudgetFor(1, { spent: 1 });
  for (const check of [setsIn, free]) {
    expect(check).toMatchObject({ status: "blocked" });
    expect(check?.message).toMatch(
      /^the key childSmall is already used up: its first request got 429 budget_exhausted/,
    );
    expect(check?.unblock[0]).toBe("keys:");
  }
});

test.concurrent("failures that are charged never pass", { timeout: 60_000 }, async () => {
  const { free, verdict } = await withBudgetFor(4, { mutation: ["charge.failures"] });
  expect(free?.status).toBe("blocked");
  expect(verdict).toBe("inconclusive");
});
