import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseEventBound } from "../../../src/load/events/event-bound.ts";
import { permittedEvents } from "../../../src/load/events/permitted-events.ts";
import { loadWorkload } from "../../../src/load/index.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";

const written = (events: string, rest = "") => `name: disturbed
arrivals: { kind: constant, ratePerS: 10, durationS: 30 }
${rest}
events:
${events}
`;

test.each([
  ["< 0.1 %", { unit: "share", value: 0.001, isInclusive: false }],
  ["<= 100 %", { unit: "share", value: 1, isInclusive: true }],
  ["<= 3", { unit: "count", value: 3, isInclusive: true }],
  ["= 0", { unit: "count", value: 0, isInclusive: true }],
  ["<= 0 %", { unit: "count", value: 0, isInclusive: true }],
  [0, { unit: "count", value: 0, isInclusive: true }],
])("%s is a bound", (text, bound) => {
  expect(parseEventBound(text)).toMatchObject(bound);
});

test.each(["", "5", "> 3 %", "< 0", "= 5 %", "< 200 %", "< 5 % of all", -1, 0.5])("%s is not a bound", (text) => {
  expect(parseEventBound(text)).toBeUndefined();
});

test("events are sorted by time; paths are relative to the file", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "w.yaml");
  writeFileSync(
    path,
    written(`  - { name: b, at: 20s, run: ./b.sh, after: { signal: { pidFile: gw.pid, name: CONT } } }
  - { name: a, at: 1500ms, http: { url: "http://127.0.0.1:1/x", body: { on: true } }, timeoutS: 5 }`),
  );
  expect(loadWorkload(path).events).toMatchObject([
    {
      name: "a",
      atS: 1.5,
      action: {
        kind: "http",
        method: "POST",
        body: '{"on":true}',
        headers: { "content-type": "application/json" },
        timeoutMs: 5_000,
      },
    },
    {
      name: "b",
      atS: 20,
      action: { kind: "command", command: "./b.sh", folder: folder.path, timeoutMs: 60_000 },
      after: { kind: "signal", signal: "CONT", pidFile: join(folder.path, "gw.pid") },
    },
  ]);
});

test.each([
  [
    "  - { name: a, at: 30s, run: x }",
    /w\.yaml:5:16 \(events\.0\.at\): is 30 s after the start of the measurement, but the measurement lasts only 30 s/,
  ],
  [
    "  - { name: a, at: 25s, run: x, after: y, durationS: 6 }",
    /\(events\.0\.at\): plus durationS is 31 s after the start/,
  ],
  ["  - { name: a, at: 5s }", /\(events\.0\): expected exactly one of run, signal, http, disturb; found none/],
  [
    "  - { name: a, at: 5s, run: x, disturb: y }",
    /\(events\.0\.disturb\): expected exactly one of .*; found run and disturb/,
  ],
  ["  - { name: a, at: soon, run: x }", /\(events\.0\.at\): .*must be a time such as "20s"/],
  [
    "  - { name: a, at: 5s, run: x, expect: { failed: few } }",
    /\(events\.0\.expect\.failed\): must be a bound such as "< 0\.1 %"/,
  ],
  ["  - { name: a, at: 5s, run: x, durationS: 3 }", /\(events\.0\.durationS\): needs `after`/],
  [
    "  - { name: a, at: 5s, run: x }\n  - { name: a, at: 9s, run: x }",
    /w\.yaml:6:7 \(events\.1\.name\): duplicates the name of event 1/,
  ],
  ["  - { name: a, at: 5s, signal: { name: KILL } }", /\(events\.0\.signal\): expected either pid or pidFile/],
  ["  - { name: a, at: 5s, signal: { pid: 1, name: KILL } }", /\(events\.0\.signal\.pid\): must be at least 2/],
  ["  - { name: a, at: 5s, run: x, expected: {} }", /unknown field "expected"\. Did you mean "expect"\?/],
])("bad events are rejected with their place: %s", (events, message) => {
  using folder = temporaryFolder();
  const path = join(folder.path, "w.yaml");
  writeFileSync(path, written(events, "warmupS: 0"));
  expect(() => loadWorkload(path)).toThrow(message);
});

test("events of a tier run and of other engines are rejected", () => {
  using folder = temporaryFolder();
  mkdirSync(folder.path, { recursive: true });
  const path = join(folder.path, "w.yaml");
  writeFileSync(path, written("  - { name: a, at: 5s, run: x }", "engine: k6"));
  expect(() => loadWorkload(path)).toThrow(/\(events\): need the native engine/);
  writeFileSync(path, "name: t\ntier: starter\nevents: [{ name: a, at: 5s, run: x }]\n");
  expect(() => loadWorkload(path)).toThrow(/\(events\): need arrivals/);
});

const target = (rest: string) =>
  parseTarget(`baseUrl: http://127.0.0.1:1/v1\nkeys: { valid: env:K }\n${rest}`, "gauntlet.yaml", {
    K: "sk-0123456789",
  });

test("an action that the target file lacks is named, and so is a request to another host", () => {
  const named = [{ name: "r", atS: 1, action: { kind: "named" as const, name: "restart" }, expect: {} }];
  expect(() => permittedEvents(named, target(""))).toThrow(
    /gauntlet\.yaml \(disturb\.restart\): missing; the event "r" of the workload needs it\. Define it in the target file/,
  );
  const there = 'disturb: { restart: { http: { url: "http://198.51.100.1/x" } } }';
  expect(() => permittedEvents(named, target(there))).toThrow(/would send a request to 198\.51\.100\.1/);
  expect(permittedEvents(named, target(`${there}\nauthorized: true`))).toMatchObject([
    { action: { kind: "http", method: "GET", url: "http://198.51.100.1/x" } },
  ]);
  const token = 'disturb: { restart: { http: { url: "http://127.0.0.1:1/x", token: env:NOT_SET_HERE } } }';
  expect(() => permittedEvents(named, target(token))).toThrow(/environment variable NOT_SET_HERE is not set/);
});

test.each([
  ["60 s are the default", "./restart.sh", 60_000, 120_000],
  ["the target file allows more", "{ run: ./restart.sh, timeoutS: 300 }", 300_000, 300_000],
])("a workload gives a named action the time that it needs: %s", (_, restart, withoutMs, withMs) => {
  using folder = temporaryFolder();
  const path = join(folder.path, "w.yaml");
  const timeoutOf = (rest: string) => {
    writeFileSync(path, written(`  - { name: a, at: 5s, disturb: restart${rest} }`));
    const [event] = permittedEvents(loadWorkload(path).events ?? [], target(`disturb: { restart: ${restart} }`));
    return event?.action.timeoutMs;
  };
  expect(timeoutOf("")).toBe(withoutMs);
  expect(timeoutOf(", timeoutS: 120")).toBe(withMs);
});
