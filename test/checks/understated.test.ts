import { expect, test } from "vitest";
import { complaints } from "../../scripts/verify/judge/evaluate.ts";
import type { Judgement } from "../../scripts/verify/judge/judgement.ts";

const judgement = (status: "warn" | "fail"): Judgement => ({
  kind: "mutations",
  name: "messages.system-dropped",
  ms: 1,
  requests: 1,
  bad: [{ id: "messages.system-applied", status, requirements: ["MSG-7"], message: "", findings: [] }],
});

test("a mutation that violates a MUST but only causes a warning is a complaint", () => {
  expect(complaints(judgement("warn"))).toEqual([
    "messages.system-dropped: breaks MSG-7: expected a failure, got only a warning",
  ]);
  expect(complaints(judgement("fail"))).toEqual([]);
});
