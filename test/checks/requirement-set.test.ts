import { describe, expect, test } from "vitest";
import { scoreBySet } from "../../src/checks/index.ts";
import type { CheckResult, Finding } from "../../src/record/index.ts";
import { REQUIREMENT_SET, REQUIREMENTS, requirementsAfter } from "../../src/requirements/index.ts";

const finding = (requirement: string, outcome: Finding["outcome"], weight: Finding["weight"]): Finding => ({
  name: requirement,
  requirements: [requirement],
  exchanges: [],
  outcome,
  weight,
  observed: { kind: "value", value: 200 },
});
const result = (status: CheckResult["status"], findings: Finding[]): CheckResult => ({
  id: "auth.bearer",
  check: "auth.bearer",
  suite: "auth",
  title: "t",
  layer: "specification",
  axes: {},
  status,
  requirements: ["AUTH-1", "AUTH-2"],
  violated: findings.filter(({ outcome }) => outcome === "broken").flatMap(({ requirements }) => requirements),
  message: "said",
  findings,
  attestations: [],
  unblock: [],
  exchanges: [],
  durationMs: 1,
});

describe("requirement sets", () => {
  test("the set in use has every requirement; an older one lacks later additions", () => {
    expect(requirementsAfter(REQUIREMENT_SET)).toEqual([]);
    expect(requirementsAfter(1, { "AUTH-2": 2, "AUTH-1": 3 })).toEqual(
      REQUIREMENTS.map(({ id }) => id).filter((id) => id === "AUTH-1" || id === "AUTH-2"),
    );
    expect(requirementsAfter(2, { "AUTH-2": 2, "AUTH-1": 3 })).toEqual(["AUTH-1"]);
  });

  test("a requirement that is not yet scored is shown and decides nothing", () => {
    const failed = result("fail", [finding("AUTH-1", "met", "fail"), finding("AUTH-2", "broken", "fail")]);
    const [scored] = scoreBySet([failed], ["AUTH-2"]);
    expect(scored).toMatchObject({ status: "pass", violated: [] });
    expect(scored?.findings[1]).toMatchObject({ outcome: "observed", weight: "none" });
    expect(scored?.findings[1]?.subject).toMatch(/not yet scored/);
    expect(scoreBySet([result("fail", [finding("AUTH-2", "broken", "fail")])], ["AUTH-2"])[0]?.status).toBe("observed");
    expect(scoreBySet([failed], ["AUTH-3"])).toEqual([failed]);
  });

  test("what was undecided along with the failure is undecided without it", () => {
    const failed = {
      ...result("fail", [finding("AUTH-1", "met", "fail"), finding("AUTH-2", "broken", "fail")]),
      undecided: "one kind of request could not be tried",
    };
    expect(scoreBySet([failed], ["AUTH-2"])).toMatchObject([{ status: "inconclusive", message: failed.undecided }]);
    expect(scoreBySet([failed], ["AUTH-3"])).toEqual([failed]);
  });

  test("what was not judged stays as it was", () => {
    const stuck = result("inconclusive", [finding("AUTH-2", "met", "fail")]);
    expect(scoreBySet([stuck], ["AUTH-2"])[0]?.status).toBe("inconclusive");
  });
});
