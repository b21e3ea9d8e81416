import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { FORMATS, renderLoad } from "../../reports/index.ts";
import type { JudgedPhase } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, loadSeries, quantiles } from "../support/load-records.ts";
import { broken, recordOf, result, value } from "../support/records.ts";

const INTERVALS = { p50: [400, 440], p90: [600, 700], p95: [700, 820], p99: null, p999: null } satisfies NonNullable<
  NonNullable<ReturnType<typeof loadClass>["responseMs"]>["intervals"]
>;

/** Response times with a p50 of 420 ms that the sample supports, and a p99 of 840 ms that it does not. */
function phaseWith(steady: JudgedPhase["steady"], count: number): JudgedPhase {
  const part = { ...quantiles(410), intervals: INTERVALS };
  const responseMs = { ...quantiles(420), intervals: INTERVALS, ...(steady?.fromS === 12 ? { steady: part } : {}) };
  const series = loadSeries(0, 60, 16, 17);
  return loadPhase("constant", { classes: [loadClass({ responseMs, ttftMs: null, count })], series, steady });
}

function rendered(steady: JudgedPhase["steady"], count = 960) {
  const record = recordOf([], {
    command: "load",
    load: { runs: [loadRun("w", { phases: [phaseWith(steady, count)] })] },
  });
  return {
    terminal: renderLoad(record, { colors: pc.createColors(false), folder: "run" }),
    html: [...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join(""),
  };
}

describe("figures with intervals", () => {
  test("every statistic is shown: with a wide interval, and marked without one", () => {
    const { terminal, html } = rendered({ fromS: 0, toS: 60, kind: "steady" });
    const row = /^ {4}E2E .*$/m.exec(terminal)?.[0].trim().split(/ {2,}/);
    expect(row).toEqual(["E2E", "420", "630 (600–700)", "714 (700–820)", "≈840", "1,680"]);
    expect(terminal).toContain(
      "(low–high): 95 % interval, where it is wide; ≈: too few independent requests for an interval",
    );
    expect(html).toContain("420 / 714 (700–820) / ≈840");
    expect(html).toContain("throughout");
    expect(html).not.toContain(">steady</text>");
  });

  test("a quantile beyond the sample is not shown, and the requests that it needs are stated", () => {
    const { terminal } = rendered({ fromS: 0, toS: 60, kind: "steady" }, 60);
    expect(/^ {4}E2E .*$/m.exec(terminal)?.[0].trim().split(/ {2,}/).slice(3)).toEqual(["714 (700–820)", "–", "1,680"]);
    expect(terminal).toContain("–: too few requests to print the percentile (p90 needs 10, p95 20, p99 100)");
  });

  test("the steady part of a phase is marked", () => {
    const { terminal, html } = rendered({ fromS: 12, toS: 60, kind: "steady" });
    expect(terminal).toMatch(
      /throughput: .* admitted\/s in the steady state from 12 s to 60 s; .*\/s in the .* s until the last response/,
    );
    expect(html).toContain("12 to 60 s");
    // In the charts over time as well.
    expect(html).toContain(">steady</text>");
  });

  test("a missing steady state is stated", () => {
    const { terminal, html } = rendered({ fromS: null, toS: null, kind: "growth" });
    expect(terminal).toMatch(/throughput: .* until the last response; no steady state \(growth\): more and more/);
    expect(html).toContain("none (growth): more and more");
  });

  test("a ramp has none, and says so", () => {
    const { terminal, html } = rendered({ fromS: null, toS: null, kind: "ramp" });
    expect(terminal).toMatch(/; no steady state \(ramp\): the offered rate rose or fell until the end$/m);
    expect(html).toContain("none (ramp): the offered rate");
  });
});

test("the same warning about many responses is one line with its count", () => {
  const wait: Parameters<typeof broken>[0] = {
    requirements: ["LIMIT-RATE-5"],
    name: "LIMIT-RATE-5",
    weight: "warn",
    pointer: undefined,
    expected: "seconds",
    observed: value(""),
  };
  const checks = [
    result("load.w.retry-after.usable", "warn", { findings: [broken(wait), broken(wait), broken(wait)] }),
  ];
  const record = { ...recordOf([], { command: "load", load: { runs: [loadRun("w")] } }), checks };
  const lines = renderLoad(record, { colors: pc.createColors(false), folder: "run" }).split("\n");
  expect(lines.filter((line) => line.includes("LIMIT-RATE-5:"))).toEqual([
    '  ▲ retry-after.usable LIMIT-RATE-5: expected seconds, got "" (3 times)',
  ]);
});
