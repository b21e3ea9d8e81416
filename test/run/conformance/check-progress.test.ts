import { expect, test } from "vitest";
import { type Instance, select, TimeLeft } from "../../../src/checks/index.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { CheckProgress } from "../../../src/run/conformance/check-progress.ts";
import type { ProgressEvent } from "../../../src/run/control/run-control.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import { broken, facts, result } from "../../support/records.ts";

const target = parseTarget("baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\nlimits: scale\n", "t.yaml", {
  K: "sk-secret-12345",
});
const instancesOf = (...suites: string[]): Instance[] => select(CHECKS, { suites, only: [] });

function follow(instances: readonly Instance[]) {
  const events: ProgressEvent[] = [];
  const redactor = new Redactor([{ name: "key.valid", value: "sk-secret-12345" }]);
  const onProgress = (event: ProgressEvent) => events.push(event);
  return {
    progress: new CheckProgress({
      instances,
      rounds: 1,
      run: { isQuick: false, includesLoad: false },
      target,
      redactor,
      onProgress,
    }),
    events,
  };
}

const ofKind = <K extends ProgressEvent["kind"]>(events: readonly ProgressEvent[], kind: K) =>
  events.filter((event): event is Extract<ProgressEvent, { kind: K }> => event.kind === kind);

const statusOf = (id: string, got: string) =>
  result(id, "fail", {
    findings: [
      broken({ name: "AUTH-3", requirements: ["AUTH-3"], exchanges: [id], pointer: "status", response: facts(got) }),
    ],
  });

test("a cause is reported once, when its first failure is judged, in one line and without keys", () => {
  const { progress, events } = follow(instancesOf("auth"));
  progress.finished(statusOf("auth.unknown-key[chat]", "403 forbidden"));
  progress.finished(statusOf("auth.unknown-key[messages]", "403 forbidden"));
  const second = { ...statusOf("auth.revoked[chat]", "500 sk-secret-12345\u001b[31m"), findings: [] };
  progress.finished({
    ...second,
    findings: [
      broken({
        name: "AUTH-4",
        exchanges: ["x9"],
        pointer: "reason",
        expected: "x",
        observed: "sk-secret-12345\u001b[31m",
      }),
    ],
  });
  const causes = ofKind(events, "cause").map(({ text }) => text);
  expect(causes).toHaveLength(2);
  expect(causes[0]).toBe(
    "fail: a request with an invalid key: expected 401, got 403 forbidden (AUTH-3, auth.unknown-key[chat])",
  );
  expect(causes[1]).not.toMatch(/sk-secret|\p{Cc}/u);
});

test("a suite has its verdict once nothing more is sent for it, and says what is judged at the end", () => {
  const instances = instancesOf("models");
  const { progress, events } = follow(instances);
  const sending = instances.filter(({ check }) => check.kind === "sending");
  for (const { id } of sending.slice(1)) progress.finished(result(id, "pass"));
  expect(ofKind(events, "suite")).toEqual([]);
  progress.finished(result(sending[0]?.id ?? "", "pass"));
  const later = instances.length - sending.length;
  expect(ofKind(events, "suite")).toEqual([
    {
      kind: "suite",
      verdict: "PASS",
      text: `models: PASS (${sending.length} pass; ${later} to be judged at the end of the run)`,
    },
  ]);
});

test("a suite that ended with an internal error is not merely inconclusive", () => {
  const instances = instancesOf("models");
  const { progress, events } = follow(instances);
  const [first, ...others] = instances.filter(({ check }) => check.kind === "sending");
  for (const { id } of others) progress.finished(result(id, "pass"));
  progress.finished(result(first?.id ?? "", "harness-error"));
  expect(ofKind(events, "suite")).toMatchObject([
    { verdict: "ERROR", text: expect.stringMatching(/^models: ERROR \(/) },
  ]);
});

test("a wait is reported with the suite that it delays", () => {
  const { progress, events } = follow(instancesOf("limits"));
  progress.waiting({ by: "limits.rate-enforced", what: "the rate window of limited.0", forMs: 43_000 });
  expect(ofKind(events, "wait")).toEqual([
    { kind: "wait", suite: "limits", what: "the rate window of limited.0", forMs: 43_000 },
  ]);
});

test("the time left falls as time passes and as checks end, and is 0 at the end", () => {
  const instances = instancesOf("limits", "retry-after");
  const time = new TimeLeft(instances, target, 0);
  const whole = time.leftS(0);
  expect(whole).toBeGreaterThan(60);
  const rate = instances.find(({ id }) => id === "limits.rate-enforced") as Instance;
  const rest = instances.filter((instance) => instance !== rate);
  time.started(rate, 0);
  for (const instance of rest.filter(({ check }) => check.kind === "sending" && check.scenario === undefined))
    time.finished(instance);
  expect(time.leftS(4)).toBeLessThan(whole);
  for (const instance of instances) time.finished(instance);
  expect(time.leftS(60)).toBe(0);
});

test("checks whose provider fails run after the other parallel ones, so that their time is added", () => {
  const named = (id: string) => instancesOf(id.slice(0, id.indexOf("."))).filter((one) => one.check.id === id);
  const [ordinary, failing] = [named("chat.minimal"), named("errors.upstream-cut")];
  const leftS = (instances: readonly Instance[]) => new TimeLeft(instances, target, 0).leftS(0);
  expect(leftS(failing)).toBeGreaterThan(5);
  expect(leftS(ordinary)).toBeGreaterThan(0);
  expect(leftS([...ordinary, ...failing])).toBeCloseTo(leftS(ordinary) + leftS(failing));
});
