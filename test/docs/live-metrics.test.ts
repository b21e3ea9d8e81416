import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { COUNTS, LATENCIES } from "../../reports/openmetrics.ts";

test("docs/live.md names every metric of a running load", () => {
  const page = readFileSync(new URL("../../docs/live.md", import.meta.url), "utf8");
  const counts = COUNTS.map(([, name]) => name.replace(/^gauntlet_(\w+?)_requests$/, "$1"));
  expect(counts.filter((name) => !page.includes(`_${name}_`))).toEqual([]);
  expect(LATENCIES.map(([, name]) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
