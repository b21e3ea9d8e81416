// real-time: providers fail for some seconds while load is sent.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRecord } from "../../src/record/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { upstreamOf } from "./support.ts";

const CHAT = { model: "m", messages: [{ role: "user", content: "hello" }] };
const PATH = "/chat/completions";

test("a disturbance changes every provider until it is deleted, or its time is over", async () => {
  await using upstream = await upstreamOf({ providers: { a: {}, b: { models: { m: { pieces: 2 } } } } });
  const put = (body: unknown) => upstream.control("/disturbance", { method: "PUT", body: JSON.stringify(body) });
  const statuses = () =>
    Promise.all(
      Object.values(upstream.providers).map(async (base) => {
        const response = await fetch(`${base}${PATH}`, { method: "POST", body: JSON.stringify(CHAT) });
        await response.text();
        return response.status;
      }),
    );
  expect(await statuses()).toEqual([200, 200]);
  expect((await put({ error: { status: 503 } })).status).toBe(200);
  expect(await statuses()).toEqual([503, 503]);
  expect((await upstream.control("/disturbance", { method: "DELETE" })).status).toBe(204);
  expect(await statuses()).toEqual([200, 200]);
  await put({ error: { status: 500 }, forS: 0.3 });
  expect(await statuses()).toEqual([500, 500]);
  await expect.poll(statuses, { timeout: 10_000 }).toEqual([200, 200]);
});

test.each([[{}], [{ forS: 5 }], [{ latency: 5 }], [{ error: { status: 200 } }]])(
  "%j is not a disturbance",
  async (body) => {
    await using upstream = await upstreamOf();
    const response = await upstream.control("/disturbance", { method: "PUT", body: JSON.stringify(body) });
    expect(response.status).toBe(400);
  },
);

test("an event makes all providers fail, and undoes it; the gateway recovers", async () => {
  using folder = temporaryFolder();
  const environment = { UPSTREAM_TOKEN: "control-token-0123456789" };
  await using upstream = startGauntlet(["upstream", "--control-token", "env:UPSTREAM_TOKEN"], environment);
  const { providers, controlUrl } = JSON.parse(await upstream.printed("\n"));
  await using gateway = startGauntlet(["gateway", "--upstream", providers.upstream, "--limits", "60000:500"]);
  const { baseUrl, keys } = JSON.parse(await gateway.printed("\n"));
  const request = `url: ${controlUrl}/disturbance, token: env:UPSTREAM_TOKEN`;
  writeFileSync(
    join(folder.path, "target.yaml"),
    `baseUrl: ${baseUrl}
keys: { valid: env:KEY }
disturb:
  failUpstream: { http: { method: PUT, ${request}, body: { error: { status: 503 } } } }
  restoreUpstream: { http: { method: DELETE, ${request} } }
`,
  );
  writeFileSync(
    join(folder.path, "outage.yaml"),
    `name: outage
arrivals: { kind: constant, ratePerS: 10, durationS: 18 }
mix: [{ dialect: chat, model: upstream-model }]
events:
  - name: outage
    at: 5s
    disturb: failUpstream
    after: { disturb: restoreUpstream }
    durationS: 3
    expect: { failed: "<= 100 %", retryable: "<= 100 %", recoveredWithinS: 5 }
`,
  );
  const args = ["load", "outage.yaml", "--target", "target.yaml", "--out", "out"];
  const { code, stdout } = await gauntlet(args, { ...environment, KEY: keys.valid }, folder.path);
  expect(code, stdout).toBe(0);
  const event = readRecord(join(folder.path, "out")).load?.runs[0]?.events?.[0];
  expect(event).toMatchObject({ execution: { result: "status 200" }, undo: { result: "status 204" } });
  const lost = (event?.figures?.failed ?? 0) + (event?.figures?.retryable ?? 0);
  expect(lost).toBeGreaterThan(20);
  expect(lost).toBeLessThan(45);
  expect(JSON.stringify(event)).not.toContain(environment.UPSTREAM_TOKEN);
}, 90_000);
