import { expect, test } from "vitest";
import { finding, Verdict } from "../../src/judging/index.ts";
import { seen } from "../support/seen-response.ts";

test("a magnitude that is not a finite number is omitted: the record could not hold it", () => {
  const facts = { requirements: ["MSG-6"], weight: "warn", met: false } as const;
  expect(finding({ ...facts, magnitude: 3 })).toHaveProperty("magnitude", 3);
  expect(finding({ ...facts, magnitude: Number.POSITIVE_INFINITY })).not.toHaveProperty("magnitude");
});

test("a subject that quotes a long text is cut", () => {
  const { subject = "" } = finding({
    requirements: ["MSG-6"],
    weight: "warn",
    met: false,
    subject: "x".repeat(90_000),
  });
  expect(subject).toHaveLength(601);
  expect(subject.endsWith("x…")).toBe(true);
});

test("the same deviation in every event of a response is recorded a hundred times at most", () => {
  const verdict = new Verdict();
  const response = seen({ sentMs: 0, endMs: 1 });
  for (let event = 0; event < 10_000; event++)
    verdict.compat("COMPAT-FRAMING", "[DONE]", "an event", { in: response, at: "/type" });
  expect(verdict.findings).toHaveLength(100);
  verdict.compat("COMPAT-FRAMING", "[DONE]", "an event", { in: seen({ sentMs: 2, endMs: 3 }), at: "/type" });
  expect(verdict.findings).toHaveLength(101);
});
