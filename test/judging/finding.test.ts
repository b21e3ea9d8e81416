import { expect, test } from "vitest";
import { finding } from "../../src/judging/index.ts";

test("a magnitude that is not a finite number is omitted: the record could not hold it", () => {
  const facts = { requirements: ["MSG-6"], weight: "warn", met: false } as const;
  expect(finding({ ...facts, magnitude: 3 })).toHaveProperty("magnitude", 3);
  expect(finding({ ...facts, magnitude: Number.POSITIVE_INFINITY })).not.toHaveProperty("magnitude");
});
