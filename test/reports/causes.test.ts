import { expect, test } from "vitest";
import { causesInWords, weightOf } from "../../reports/causes.ts";
import type { Cause, RunRecord } from "../../src/record/index.ts";
import { recordOf, result } from "../support/records.ts";

const causeOf = (...checks: string[]) => ({ checks }) as unknown as Cause;
const recorded = (causes: readonly Cause[], ...statuses: ("fail" | "warn")[]): RunRecord => ({
  ...recordOf(statuses.map((status, index) => result(`a.${index}`, status))),
  causes: [...causes],
});

test.each<[causes: readonly Cause[], statuses: ("fail" | "warn")[], says: string]>([
  [[causeOf("a.0")], ["fail"], "1 check instance failed."],
  [[causeOf("a.0"), causeOf("a.0")], ["warn"], "1 check instance warned, with 2 causes."],
  [[causeOf("a.0", "a.1", "a.2")], ["fail", "fail", "warn"], "1 cause explains 3 check instances: 2 failed, 1 warned."],
  [[causeOf("a.0"), causeOf("a.0", "a.1")], ["fail", "fail"], "2 causes explain 2 check instances: 2 failed."],
])("the summary of causes: %#", (causes, statuses, says) =>
  expect(causesInWords(recorded(causes, ...statuses))).toBe(says),
);

test("a cause counts what failed and what only warned apart", () => {
  const cause = causeOf("a.0", "a.1");
  expect(weightOf(recorded([cause], "fail", "warn"), cause)).toBe("2 check instances (1 failed, 1 warned)");
  expect(weightOf(recorded([cause], "fail", "fail"), cause)).toBe("2 check instances");
});
