import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeExitCode } from "../../reports/index.ts";
import type { StartTimes } from "../../scripts/verify/quickstart/start-times.ts";
import { formatNumber } from "../../src/core/index.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const times = JSON.parse(read("docs/internal/measured/npm-start.json")) as StartTimes;

test("the README's figures of npm start are those that npm run verify start measured last", () => {
  const counts = Object.entries(times.checks).map(([status, count]) => `${formatNumber(count)} ${status}`);
  const line = `${counts.join(", ")} in ${times.runS} s, ${formatNumber(times.requests)} requests`;
  expect(read("README.md")).toContain(`${line}\n${describeExitCode(times.exitCode)};`);
});

test("the time to the first verdict is stated as measured, or not at all", () => {
  const said = /whose verdict appears after ([\d.]+) s/.exec(read("README.md").replace(/\s+/g, " "))?.[1];
  expect(said === undefined ? null : Number(said)).toBe(times.firstVerdictS);
});
