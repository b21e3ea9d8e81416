// real-time: checks fill the limits of a minute and wait for Retry-After
import { afterEach, describe, expect, test, vi } from "vitest";
import { judgeGateway } from "../../../scripts/verify/judge/judge-gateway.ts";
import { describeOutage, isRefusedIn, outagesIn } from "../../../src/checks/gateway/outage.ts";
import { Recovery } from "../../../src/checks/gateway/recovery.ts";
import { instancesOf, Response } from "../../../src/checks/index.ts";
import { runPool } from "../../../src/checks/runner/pool.ts";
import { CHECKS } from "../../../suites/index.ts";
import { judged, seen, type Times } from "../../support/seen-response.ts";

const FOR_OK = '{"model":"ok"}';
const at = (sentMs: number, more: Partial<Times> = {}) =>
  seen({ sentMs, endMs: sentMs + 5, sent: FOR_OK, intent: "valid", ...more });
const marked = ({ exchange, requested }: Response, more: Partial<Response["requested"]>) =>
  new Response(exchange, { ...requested, ...more }, { reasonHeader: "X-Reason", actionHeader: "X-Action" });

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
  expect(outage && describeOutage(outage)).toMatch(
    new RegExp(`^\`ok\` \\(chat\\) was served until ${served.id} and then returned 404, until ${again.id}`),
  );
  const own = outage === undefined ? [] : [outage];
  expect(isRefusedIn(own, at(25, { status: 404, sent: '{"model":"other"}' }))).toBe(true);
  expect(isRefusedIn(own, at(25, { status: 404, intent: "denied" }))).toBe(false);
  expect(isRefusedIn(own, at(25, { status: 503, intent: "denied" }))).toBe(true);
  expect(isRefusedIn(own, at(25, { status: 400 }))).toBe(false);
  expect(isRefusedIn(own, at(50, { status: 404 }))).toBe(false);
  // Another model is only affected from then on, and the model itself from when it was last served.
  expect(isRefusedIn(own, at(2, { status: 503, endMs: 8, sent: '{"model":"other"}' }))).toBe(false);
  expect(isRefusedIn(own, at(2, { status: 503, endMs: 12, sent: '{"model":"other"}' }))).toBe(true);
  expect(isRefusedIn(own, at(2, { status: 503, endMs: 8 }))).toBe(true);
  // A model that was never served again says nothing about other models.
  const forever = outagesIn([served, suspect, ...refused]);
  expect(forever).toMatchObject([{ until: undefined }]);
  expect(isRefusedIn(forever, at(99, { status: 404 }))).toBe(true);
  expect(isRefusedIn(forever, at(99, { status: 404, sent: '{"model":"other"}' }))).toBe(false);
  // It was eventually served, as long as nothing indicates the same for the others.
  const later = outagesIn([served, suspect, ...refused, at(90)]);
  expect(isRefusedIn(later, at(60, { status: 404 }))).toBe(true);
  expect(isRefusedIn(later, at(99, { status: 404 }))).toBe(false);
  expect(isRefusedIn(later, at(60, { status: 503, sent: '{"model":"other"}' }))).toBe(false);
  // A limit that is reached during the wait does not invalidate it.
  expect(outagesIn([served, suspect, ...refused, probe(35, 429), again])).toMatchObject([{ until: again }]);
});

test("a refusal is not an outage if a plain request is served, or if the model was never served", () => {
  const suspect = at(10, { status: 503 });
  const probe = (sentMs: number, status: number) => marked(at(sentMs, { status }), { recoveryOf: suspect.id });
  expect(outagesIn([at(0), suspect, probe(20, 200)])).toEqual([]);
  expect(outagesIn([at(0), suspect, probe(20, 503), probe(30, 200)])).toEqual([]);
  expect(outagesIn([suspect, probe(20, 503), probe(30, 503)])).toEqual([]);
});

describe("what an outage says about the gateway", () => {
  const after = (suspect: Response) => (sentMs: number, status: number) =>
    marked(at(sentMs, { status }), { recoveryOf: suspect.id });
  /** A model that is refused from one moment on, and polled at others. */
  const refusedFrom = (ms: number, status: number, probes: readonly (readonly [number, number])[]) => {
    const suspect = at(ms, { status });
    const probe = after(suspect);
    return [suspect, ...probes.map(([sentMs, found]) => probe(sentMs, found))];
  };
  const pause = (ms: number, status = 503) =>
    refusedFrom(ms, status, [...[10, 500].map((later) => [ms + later, status] as const), [ms + 1_000, 200]]);
  const judgedServing = (...responses: readonly Response[]) => {
    const { status, findings, message } = judged("robustness.keeps-serving", [at(0), ...responses]);
    const broken = findings.filter(({ outcome }) => outcome === "broken").map(({ name }) => name);
    return [status, ...new Set(broken), ...(status === "inconclusive" ? [message] : [])];
  };
  const many = (count: number, fromMs: number) => Array.from({ length: count }, (_, index) => at(fromMs + index));

  test("a 5xx that passes is a warning, and a 404 is not", () => {
    expect(judgedServing(...pause(10))).toEqual(["warn", "STEADY-SERVICE"]);
    expect(judgedServing(...pause(10, 404))).toEqual(["fail", "BASE-3"]);
  });

  test("a failure of another model explains it only if that one is never served", () => {
    const other = (more: Partial<Times>) => at(5, { sent: '{"model":"other"}', ...more });
    expect(judgedServing(other({ status: 503 }), ...pause(10))).toEqual(["observed"]);
    expect(judgedServing(other({ status: 503 }), other({ sentMs: 2_000, endMs: 2_001 }), ...pause(10))).toEqual([
      ...["warn", "STEADY-SERVICE"],
    ]);
  });

  test("many pauses are a failure if they are a large share of the run", () => {
    const pauses = [2_000, 4_000, 6_000].flatMap((ms) => pause(ms));
    expect(judgedServing(...many(20, 100), ...pauses)).toEqual(["fail", "STEADY-SERVICE", "BASE-3"]);
    expect(judgedServing(...many(20, 90_000), ...pauses)).toEqual(["warn", "STEADY-SERVICE"]);
    // Several models at the same time count as one.
    expect(judgedServing(...many(20, 100), ...[2_000, 2_100, 2_200].flatMap((ms) => pause(ms)))).toEqual([
      ...["warn", "STEADY-SERVICE"],
    ]);
  });

  test("a model that does not recover within the full wait is a failure; after a shorter wait it is undecided", () => {
    const early = [[20, 503] as const, [520, 503] as const];
    expect(judgedServing(...refusedFrom(10, 503, [...early, [76_000, 503]]))).toEqual(["fail", "BASE-3"]);
    const [status, message] = judgedServing(...refusedFrom(10, 503, early));
    expect(status).toBe("inconclusive");
    expect(message).toMatch(/was not served again within 0\.5 s; the run stopped waiting for it/);
  });
});

test("a run in which no model was served does not show that models stay served", () => {
  const refused = [at(0, { status: 500 }), at(10, { status: 500 })];
  const listed = at(20, { endpoint: "models", text: '{"data":[]}' });
  expect(judged("robustness.keeps-serving", [...refused, listed])).toMatchObject({ status: "inconclusive" });
  const garbage = [at(0, { text: "{}" }), at(10, { text: "<html>hello</html>" })];
  expect(judged("robustness.keeps-serving", [...garbage, listed])).toMatchObject({ status: "inconclusive" });
  const text = JSON.stringify({ choices: [{ message: { content: "hello" } }] });
  expect(judged("robustness.keeps-serving", [at(0, { text }), listed])).toMatchObject({ status: "pass" });
});

describe("waiting for a model", () => {
  /** Models that are refused until some moment, ms; responses are immediate. */
  const recovering = () => {
    vi.useFakeTimers();
    const refusedUntil = new Map<string, number>();
    const responses: Response[] = [];
    const response = (model: string, more: Partial<Response["requested"]> = {}) => {
      vi.advanceTimersByTime(1);
      const sentMs = performance.now();
      const status = sentMs < (refusedUntil.get(model) ?? 0) ? 503 : 200;
      const response = marked(at(sentMs, { status, endMs: sentMs, sent: JSON.stringify({ model }) }), more);
      responses.push(response);
      if (response.admitted) recovery.noteServed(response);
      return response;
    };
    const recovery: Recovery = new Recovery({
      nowMs: () => performance.now(),
      signal: new AbortController().signal,
      responses: () => responses,
      onWait: () => undefined,
      send: async ({ model, intent = "valid", recoveryOf, probe }) => {
        // A poll takes time, as any request does.
        await new Promise((resolve) => setTimeout(resolve, 1));
        return response((model as { id: string }).id, {
          intent,
          ...(recoveryOf === undefined ? {} : { recoveryOf }),
          ...(probe === true && { probe }),
        });
      },
    });
    const waitOutOutage = async (model: string) => {
      const over = recovery.waitOutOutage(response(model));
      for (let s = 0; s < 100; s++) await vi.advanceTimersByTimeAsync(1_000);
      return await over;
    };
    return { recovery, response, waitOutOutage, refusedUntil };
  };
  const CHAT_OK = { endpoint: "chat", model: "ok" } as const;
  afterEach(() => vi.useRealTimers());

  test("continues after each cool-down, however many there are", async () => {
    const { recovery, response, waitOutOutage, refusedUntil } = recovering();
    response("ok");
    for (let times = 0; times < 6; times++) {
      refusedUntil.set("ok", performance.now() + 60_000);
      expect(await waitOutOutage("ok")).toBe(true);
    }
    expect(recovery.lost).toBeUndefined();
  });

  test("ends until the model is served after all", async () => {
    const { recovery, response, waitOutOutage, refusedUntil } = recovering();
    response("ok");
    refusedUntil.set("ok", performance.now() + 200_000);
    expect(await waitOutOutage("ok")).toBe(false);
    expect(recovery.lost).toMatch(/^`ok` \(chat\) was served until .* was not served again within 7\d\.\d s$/);
    expect(() => recovery.throwIfLost(CHAT_OK, "valid")).toThrow("was not served again");
    expect(() => recovery.throwIfLost({ ...CHAT_OK, endpoint: "messages" }, "valid")).not.toThrow();
    await vi.advanceTimersByTimeAsync(200_000);
    const retried = recovery.retryLost();
    await vi.advanceTimersByTimeAsync(1_000);
    await retried;
    expect(recovery.lost).toBeUndefined();
    expect(() => recovery.throwIfLost(CHAT_OK, "valid")).not.toThrow();
  });

  test("treats each model separately", async () => {
    const { recovery, response, refusedUntil } = recovering();
    response("ok");
    response("other");
    const soon = () => performance.now() + 5_000;
    // One model is refused for a single request, and the other for a while, at the same time.
    for (let times = 0; times < 3; times++) {
      refusedUntil.set("ok", performance.now() + 0.5);
      refusedUntil.set("other", soon());
      const both = Promise.all([recovery.waitOutOutage(response("ok")), recovery.waitOutOutage(response("other"))]);
      for (let s = 0; s < 20; s++) await vi.advanceTimersByTimeAsync(1_000);
      expect((await both)[1]).toBe(true);
    }
  });
});

test("work that waits for the others lets the next begin, and continues when nothing else is left", async () => {
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

test("a gateway that pauses its providers after failures passes", {
  timeout: 240_000,
}, async () => {
  const { results } = await judgeGateway({ variants: ["provider.left-alone-after-failures"], instances: INSTANCES });
  const blamed = results.filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status));
  expect(blamed.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  const serving = results.find(({ id }) => id === "robustness.keeps-serving");
  expect(JSON.stringify(serving?.findings)).toMatch(/was served until x\w+ and then returned 50\d/);
});

test("all refusals of a temporarily disabled model are one finding", { timeout: 240_000 }, async () => {
  const { results } = await judgeGateway({ mutations: ["upstream.failures-unlist-models"], instances: INSTANCES });
  const serving = results.find(({ id }) => id === "robustness.keeps-serving");
  expect(serving).toMatchObject({ status: "warn", violated: ["STEADY-SERVICE"] });
  expect(serving?.message).toMatch(/was served until x\w+ and then returned 404/);
  const failed = results.filter(({ status }) => status === "fail");
  // The failures themselves are reported as 404.
  for (const { id, violated } of failed) expect([id, violated]).toEqual([id, ["ERR-5XX-1"]]);
});
