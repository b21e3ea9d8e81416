import { describe, expect, test, vi } from "vitest";
import type { ProgressEvent, SuiteProgress } from "../../src/run/control/run-control.ts";
import { Board } from "../../src/terminal/progress/board.ts";
import { duration, fitLine, shorten, wrap } from "../../src/terminal/progress/fit.ts";
import { plainProgress } from "../../src/terminal/progress/plain.ts";
import { wrapLines } from "../../src/terminal/wrap-lines.ts";

describe("texts for a width", () => {
  test.each([
    [0, "0 s"],
    [0.2, "1 s"],
    [59.1, "1 min 0 s"],
    [70, "1 min 10 s"],
    [7_500, "2 h 5 min"],
  ])("%d seconds are %s", (seconds, text) => expect(duration(seconds)).toBe(text));

  test.each([
    ["it fits", "waiting 43 s", 12, "waiting 43 s"],
    ["between words", "waiting 43 s for the rate window", 20, "waiting 43 s for…"],
    ["one long word", "limits.concurrency-enforced", 10, "limits.co…"],
  ])("is shortened: %s", (_why, text, columns, short) => expect(shorten(text, columns)).toBe(short));

  test("parts that do not fit are omitted entirely, in favour of a later one that does", () => {
    expect(fitLine("starter", ["recovery", "about 43 s left", "3 denied"], 80)).toBe(
      "starter  recovery, about 43 s left, 3 denied",
    );
    expect(fitLine("starter", ["recovery", "about 43 s left", "3 denied"], 30)).toBe("starter  recovery, 3 denied");
  });

  test("text is wrapped between words, and no word is lost", () => {
    const text = "plan for staging (starter, growth): at most 8,600 requests, up to 40 per second";
    const lines = wrap(text, 30, "  ").split("\n");
    expect(lines.map((line) => line.length).every((length) => length <= 30)).toBe(true);
    expect(lines.map((line) => line.trim()).join(" ")).toBe(text);
  });
});

test("a report is wrapped between words with its indent; commands and short lines stay as they are", () => {
  const command = `    curl -sS -i -X POST 'http://127.0.0.1/v1/messages' -H 'Content-Type: application/json'`;
  const text = `PASS\n${command}\n    \x1b[31mCompare the exchange with its control request:\x1b[39m what differs decides`;
  expect(wrapLines(text, 40).split("\n")).toEqual([
    "PASS",
    command,
    "    \x1b[31mCompare the exchange with its",
    "    control request:\x1b[39m what differs",
    "    decides",
  ]);
});

test("a table that is too wide becomes two, one below the other, each with the first column", () => {
  const table = [
    "┌────────┬──────┬─────┐",
    "│ phase  │ sent │ p99 │",
    "├────────┼──────┼─────┤",
    "│ \x1b[31mwarm\x1b[39m   │    8 │  12 │",
    "└────────┴──────┴─────┘",
  ];
  expect(wrapLines([...table, "after"].join("\n"), 23).split("\n")).toEqual([...table, "after"]);
  expect(wrapLines([...table, "after"].join("\n"), 20).split("\n")).toEqual([
    "┌────────┬──────┐",
    "│ phase  │ sent │",
    "├────────┼──────┤",
    "│ \x1b[31mwarm\x1b[39m   │    8 │",
    "└────────┴──────┘",
    "┌────────┬─────┐",
    "│ phase  │ p99 │",
    "├────────┼─────┤",
    "│ \x1b[31mwarm\x1b[39m   │  12 │",
    "└────────┴─────┘",
    "after",
  ]);
});

test("a part of a split table is as wide as its columns", () => {
  const rule = "─".repeat(18);
  const table = [
    `┌${rule}┬${rule}┬──────┐`,
    `│ ${"name".padEnd(17)}│ ${"interval".padEnd(17)}│ p99  │`,
    `├${rule}┼${rule}┼──────┤`,
    `│ ${"one".padEnd(17)}│ ${"1.0 to 2.0".padEnd(17)}│   12 │`,
    `└${rule}┴${rule}┴──────┘`,
  ];
  const lines = wrapLines(table.join("\n"), 44).split("\n");
  const widths = lines.map((line) => line.length);
  expect(widths.every((width) => width <= 44)).toBe(true);
  expect(new Set(widths.slice(0, 5)).size).toBe(1);
  expect(new Set(widths.slice(5)).size).toBe(1);
});

const suite = (name: string, done: number, more: Partial<SuiteProgress> = {}): SuiteProgress => ({
  suite: name,
  done,
  total: 40,
  failed: 0,
  over: false,
  running: undefined,
  ...more,
});

/** A tier in the middle of its overload. */
const load = (run: string): ProgressEvent => ({
  kind: "load",
  progress: {
    run,
    phase: "over-rate-limit",
    elapsedS: 10,
    totalS: 45,
    runLeftS: 95,
    waiting: { what: "Retry-After", leftS: 30 },
    inFlight: 23,
    sentPerS: 41,
    admittedPerS: 5.2,
    denied: 1_046,
    failed: 0,
    responseByModeMs: { streaming: { p50: 12, p95: 30, p99: 40 }, nonStreaming: null },
  },
});

function boardOf(...events: readonly ProgressEvent[]): Board {
  const board = new Board();
  for (const event of events) board.take(event, 1_000);
  return board;
}

const RUN: readonly ProgressEvent[] = [
  { kind: "checks", done: 0, total: 538, what: "" },
  { kind: "checks", done: 248, total: 538, what: "chat.reply" },
  {
    kind: "suites",
    leftS: 70,
    suites: [
      suite("auth", 39, { over: true }),
      suite("limits", 31, { running: "limits.rate-enforced" }),
      suite("errors", 12, { failed: 2, running: "errors.key-revoked[messages,non-streaming]" }),
      suite("compat", 0),
    ],
  },
  { kind: "wait", suite: "limits", what: "the rate window of limited.0", forMs: 43_000 },
  load("starter"),
];

describe("work in progress, one line each", () => {
  test("with progress, time left, and what is waited for, at 140 columns", () => {
    expect(boardOf(...RUN).lines({ columns: 140, rows: 24 }, 1_000)).toEqual([
      "  conformance:  248 of 538 check instances, about 1 min 10 s left, 2 failed",
      "  starter  over-rate-limit, 1 min 35 s left, waiting 30 s for Retry-After, 1,046 denied, 41/s sent, 5/s admitted, E2E p50 12 ms",
      "  limits    31/40  waiting 43 s for the rate window of limited.0, running limits.rate-enforced",
      "  errors    12/40  errors.key-revoked[messages,non-streaming], 2 failed",
    ]);
  });

  test("at 80 columns nothing is broken, and time left and waits stay", () => {
    const lines = boardOf(...RUN).lines({ columns: 80, rows: 24 }, 1_000);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    expect(lines[1]).toBe("  starter  over-rate-limit, 1 min 35 s left, waiting 30 s for Retry-After");
    expect(lines[2]).toContain("waiting 43 s for the rate window of limited.0");
  });

  test("clocks advance between two reports, and a wait that is over is not shown", () => {
    const lines = boardOf(...RUN).lines({ columns: 140, rows: 24 }, 4_000);
    expect(lines[0]).toContain("about 1 min 7 s left");
    expect(lines[2]).toContain("waiting 40 s");
    expect(
      boardOf(...RUN)
        .lines({ columns: 140, rows: 24 }, 50_000)
        .join("\n"),
    ).not.toContain("waiting");
  });

  test("a load without further progress has ended", () => {
    expect(boardOf(load("starter")).lines({ columns: 80, rows: 24 }, 2_000)).toHaveLength(1);
    expect(boardOf(load("starter")).lines({ columns: 80, rows: 24 }, 7_000)).toEqual([]);
  });

  test("a small terminal gets as many lines as it has room for", () => {
    expect(boardOf(...RUN).lines({ columns: 80, rows: 2 }, 1_000)).toHaveLength(2);
  });

  test("a step shows how long it has taken, or how long it still takes", () => {
    const connecting = boardOf({ kind: "step", text: "connecting to http://127.0.0.1:9/v1" });
    expect(connecting.lines({ columns: 80, rows: 24 }, 2_000)).toEqual(["  connecting to http://127.0.0.1:9/v1  "]);
    expect(connecting.lines({ columns: 80, rows: 24 }, 9_500)).toEqual([
      "  connecting to http://127.0.0.1:9/v1  for 8 s",
    ]);
    const search = boardOf({ kind: "step", text: "12.50 requests per second", leftS: 300, atMost: true });
    expect(search.lines({ columns: 80, rows: 24 }, 11_000)).toEqual([
      "  12.50 requests per second  4 min 50 s left at most",
    ]);
  });
});

test("without a terminal, a long step is reported now and then, with the time left", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const written: string[] = [];
    const onProgress = plainProgress((text) => written.push(text));
    for (let second = 1; second <= 25; second++) {
      vi.setSystemTime(Date.now() + 1_000);
      onProgress({ kind: "step", text: `round ${second} of 25, new`, leftS: 25 - second });
    }
    expect(written).toEqual([
      "gauntlet: round 10 of 25, new, 15 s left\n",
      "gauntlet: round 20 of 25, new, 5 s left\n",
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("without a terminal, the number of checks comes with the time left", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const written: string[] = [];
    const onProgress = plainProgress((text) => written.push(text));
    const report = (done: number, leftS: number) => {
      onProgress({ kind: "suites", suites: [], leftS });
      onProgress({ kind: "checks", done, total: 300, what: "auth.a" });
      vi.setSystemTime(Date.now() + 11_000);
    };
    report(0, 190);
    report(60, 150);
    report(300, 0);
    expect(written).toEqual([
      "gauntlet: 300 check instances\n",
      "gauntlet: 60 of 300 check instances done (last: auth.a), about 2 min 30 s left\n",
      "gauntlet: 300 of 300 check instances done (last: auth.a)\n",
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("without a terminal too, a cause is printed when it is found", () => {
  const written: string[] = [];
  plainProgress((text) => written.push(text))({
    kind: "cause",
    text: "fail: an unknown key gets 403 (AUTH-2, auth.unknown-key)",
  });
  expect(written).toEqual(["gauntlet: ✗ fail: an unknown key gets 403 (AUTH-2, auth.unknown-key)\n"]);
});

test("without a terminal, a tier says how much is left of its phase, and of all of its phases", () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const onProgress = plainProgress((text) => written.push(text));
    vi.setSystemTime(Date.now() + 11_000);
    onProgress(load("starter"));
    expect(written.join("")).toMatch(/, 35 s left in the phase, 1 min 35 s left in the run\n$/);
  } finally {
    vi.useRealTimers();
  }
});

test("without a terminal, a load says what it waits for, and one check is singular", () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const onProgress = plainProgress((text) => written.push(text));
    onProgress({ kind: "checks", done: 0, total: 1, what: "" });
    vi.setSystemTime(Date.now() + 11_000);
    onProgress({
      kind: "load",
      progress: {
        ...{ run: "starter", phase: "recovery", elapsedS: 14, totalS: 43, inFlight: 0, sentPerS: 0, admittedPerS: 0 },
        ...{ denied: 32, failed: 0 },
        waiting: { what: "Retry-After", leftS: 21 },
      },
    });
    expect(written).toEqual([
      "gauntlet: 1 check instance\n",
      "gauntlet: starter recovery: waiting 21 s for Retry-After, 0/s sent, 0/s admitted, 0 in flight, 32 denied, 29 s left\n",
    ]);
  } finally {
    vi.useRealTimers();
  }
});
