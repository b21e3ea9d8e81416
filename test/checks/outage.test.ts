import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge-gateway.ts";
import { instancesOf, Response } from "../../src/checks/index.ts";
import { isRefusedIn, outageInWords, outagesIn } from "../../src/checks/outage.ts";
import { runPool } from "../../src/checks/pool.ts";
import { CHECKS } from "../../suites/index.ts";
import { seen, type Times } from "../support/seen-response.ts";

const FOR_OK = '{"model":"ok"}';
const at = (sentMs: number, more: Partial<Times> = {}) =>
  seen({ sentMs, endMs: sentMs + 5, sent: FOR_OK, intent: "good", ...more });
const marked = ({ exchange, asked }: Response, more: Partial<Response["asked"]>) =>
  new Response(exchange, { ...asked, ...more }, { reasonHeader: "X-Reason", actionHeader: "X-Action" });

test("a model that was served and is refused twice is in an outage until it is served again", () => {
  const served = at(0);
  const failure = marked(at(5, { status: 502 }), { upstreamFails: true });
  const suspect = at(10, { status: 404 });
  const probe = (sentMs: number, status: number) => marked(at(sentMs, { status }), { recoveryOf: suspect.id });
  const refused = [probe(20, 404), probe(30, 404)];
  const again = probe(40, 200);
  const [outage, ...others] = outagesIn([served, failure, suspect, ...refused, again]);
  expect(others).toEqual([]);
  expect(outage).toMatchObject({ model: "ok", after: served, first: suspect, refused, until: again });
  expect(outage?.upstreamFailures).toBe(1);
  expect(outage && outageInWords(outage)).toMatch(
    new RegExp(`^\`ok\` \\(chat\\) was served until ${served.id} and answered 404 afterwards, until ${again.id}`),
  );
  const own = outage === undefined ? [] : [outage];
  expect(isRefusedIn(own, at(25, { status: 404, sent: '{"model":"other"}' }))).toBe(true);
  expect(isRefusedIn(own, at(25, { status: 404, intent: "denied" }))).toBe(false);
  expect(isRefusedIn(own, at(25, { status: 503, intent: "denied" }))).toBe(true);
  expect(isRefusedIn(own, at(25, { status: 400 }))).toBe(false);
  expect(isRefusedIn(own, at(50, { status: 404 }))).toBe(false);
  // What was never served again says nothing about other models.
  const forever = outagesIn([served, suspect, ...refused]);
  expect(forever).toMatchObject([{ until: undefined }]);
  expect(isRefusedIn(forever, at(99, { status: 404 }))).toBe(true);
  expect(isRefusedIn(forever, at(99, { status: 404, sent: '{"model":"other"}' }))).toBe(false);
});

test("a refusal is no outage if a plain request is served, or if the model was never served", () => {
  const suspect = at(10, { status: 503 });
  const probe = (sentMs: number, status: number) => marked(at(sentMs, { status }), { recoveryOf: suspect.id });
  expect(outagesIn([at(0), suspect, probe(20, 200)])).toEqual([]);
  expect(outagesIn([at(0), suspect, probe(20, 503), probe(30, 200)])).toEqual([]);
  expect(outagesIn([suspect, probe(20, 503), probe(30, 503)])).toEqual([]);
});

test("work that waits for the others lets the next begin, and goes on when nothing else is left", async () => {
  const log: string[] = [];
  await runPool(
    ["first", "second", "third", "fourth"],
    () => 1,
    async (name, afterOthers) => {
      log.push(`${name} begins`);
      if (name === "first" || name === "third") await afterOthers();
      log.push(`${name} ends`);
    },
  );
  expect(log).toEqual([
    ...["first begins", "second begins", "second ends", "third begins", "fourth begins", "fourth ends"],
    ...["first ends", "third ends"],
  ]);
  await expect(
    runPool(
      [1],
      () => 2,
      () => Promise.reject(new Error("broken")),
    ),
  ).rejects.toThrow("broken");
});

/** Checks that make providers fail, and others that need the same providers. */
const INSTANCES = CHECKS.filter(({ id }) =>
  /^(?:errors\.upstream-|streaming\.cut|compat\.chat-stream-error|chat\.minimal|upstream\.failure\[chat,non-streaming|robustness\.(?:keeps-serving|stable-service))/.test(
    id,
  ),
).flatMap(instancesOf);

test("a gateway that leaves its providers alone for a while after failures is not blamed", {
  timeout: 240_000,
}, async () => {
  const { results } = await judgeGateway({ variants: ["provider.left-alone-after-failures"], instances: INSTANCES });
  const blamed = results.filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status));
  expect(blamed.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  const serving = results.find(({ id }) => id === "robustness.keeps-serving");
  expect(JSON.stringify(serving?.findings)).toMatch(/was served until x\w+ and answered 50\d/);
});

test("what a model that is no longer enabled for a while refuses is one finding", { timeout: 240_000 }, async () => {
  const { results } = await judgeGateway({ mutations: ["upstream.failures-unlist-models"], instances: INSTANCES });
  const serving = results.find(({ id }) => id === "robustness.keeps-serving");
  expect(serving).toMatchObject({ status: "warn", violated: ["STEADY-SERVICE"] });
  expect(serving?.message).toMatch(/was served until x\w+ and answered 404/);
  const failed = results.filter(({ status }) => status === "fail");
  // The failures themselves are reported as 404.
  for (const { id, violated } of failed) expect([id, violated]).toEqual([id, ["ERR-5XX-1"]]);
});
