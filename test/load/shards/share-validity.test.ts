import { expect, test } from "vitest";
import { finding } from "../../../src/judging/index.ts";
import { shareValidity } from "../../../src/load/index.ts";
import { checksOfLoad } from "../../../src/record/index.ts";
import { loadPhase, loadRun } from "../../support/load-records.ts";

const wrong = (basis: "content" | "timing") =>
  finding({
    name: "denials.wrong",
    title: "Denials name their limit",
    requirements: ["ERR-429-RATE"],
    met: false,
    basis,
    expected: "429",
    observed: "418",
  });
const failing = (name: string, basis: "content" | "timing") =>
  loadRun(name, {
    verdict: "fail",
    reasons: [{ text: "recovery: broken", phase: "recovery" }],
    phases: [loadPhase("recovery", { verdict: "fail", findings: [wrong(basis)] })],
    generator: { ...loadRun(name).generator, valid: true, problems: [] },
  });
const late = loadRun("scale", {
  verdict: "inconclusive",
  generator: { ...loadRun("scale").generator, valid: false, problems: ["sends were late"] },
});

test("a tier concurrent with one whose generator was late says nothing that depends on timing", () => {
  const [growth] = shareValidity([failing("growth", "timing"), late]);
  expect(growth).toMatchObject({
    verdict: "inconclusive",
    reasons: [{ reason: { kind: "machine-busy", problems: ["scale, in the same process: sends were late"] } }],
    generator: { valid: false },
  });
  expect(growth?.phases[0]?.verdict).toBe("inconclusive");
});

test("what depends on timing has the machine as its reason, and the content of replies stays judged", () => {
  const right = finding({ name: "load.invalid", requirements: [], met: true, basis: "content", expected: "usable" });
  const one = failing("growth", "timing");
  const [phase] = one.phases;
  const findings = [...(phase?.findings ?? []), right];
  const [growth] = shareValidity([{ ...one, phases: [loadPhase("recovery", { verdict: "fail", findings })] }, late]);
  const reason = { kind: "machine-busy", problems: ["scale, in the same process: sends were late"] };
  expect(growth?.phases[0]?.findings).toMatchObject([{ outcome: "undecided", reason }, { outcome: "met" }]);
  const checks = checksOfLoad({ runs: growth === undefined ? [] : [growth] });
  expect(checks.map((check) => [check.status, check.reason])).toEqual([
    ["inconclusive", reason],
    ["inconclusive", reason],
  ]);
});

test("wrong replies are wrong all the same", () => {
  const [growth] = shareValidity([failing("growth", "content"), late]);
  expect(growth?.verdict).toBe("fail");
});

test("runs on time, and runs of another process, are not affected", () => {
  const one = failing("growth", "timing");
  expect(shareValidity([one])).toEqual([one]);
  const far = { ...one, engine: "k6" as const };
  expect(shareValidity([far, late])[0]).toEqual(far);
});
