import { describe, expect, test } from "vitest";
import { FORMATS } from "../../reports/index.ts";
import type { JudgedPhase } from "../../src/record/index.ts";
import { loadHeat, loadPhase, loadRun } from "../support/load-records.ts";
import { attribute, elementsOf, textOf } from "../support/readers.ts";
import { recordOf, result } from "../support/records.ts";

type Found = ReturnType<typeof elementsOf>[number];

/** Everything inside the figure with that title; empty if there is none. */
function figureOf(phases: JudgedPhase[], title: string): Found[] {
  const run = loadRun("growth", { durationS: 120, phases });
  const record = recordOf([result("auth.good", "pass")], { load: { runs: [run] } });
  const html = [...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join("");
  const figures = elementsOf(html).filter(({ tagName }) => tagName === "figure");
  const found = figures.find((figure) => textOf(figure).startsWith(title));
  const inside = (node: Found): Found[] =>
    node.childNodes.flatMap((child) => ("tagName" in child ? [child, ...inside(child)] : []));
  return found === undefined ? [] : inside(found);
}

/** Numbers in the body of the table behind a figure. */
function countsIn(elements: readonly Found[]): number[][] {
  const [body] = elements.filter(({ tagName }) => tagName === "tbody");
  const rows = body?.childNodes.filter((node): node is Found => "tagName" in node) ?? [];
  return rows.map((row) =>
    row.childNodes
      .filter((node): node is Found => "tagName" in node && node.tagName === "td")
      .map((cell) => Number(textOf(cell).replace("–", "0").replace(/\D/g, ""))),
  );
}

describe("the heat map", () => {
  const heat = { response: loadHeat(1, 60, 400), ttft: loadHeat(1, 60, 90) };
  // 1,302 in each column, and a dozen slower ones in each column of the second half.
  const ALL = 60 * 1_302 + 30 * 12;

  test.each(["E2E latency over time", "TTFT over time"])("%s: a drawing and its counts", (title) => {
    const elements = figureOf([loadPhase("a", { heat }), loadPhase("b", { startS: 60, heat })], title);
    const [drawing] = elements.filter((element) => attribute(element, "role") === "img");
    expect(drawing && attribute(drawing, "aria-label")).toMatch(
      /Most took [\d.]+ ms to [\d.]+ ms; the slowest \d+, [\d.]+ m?s to [\d.]+ m?s\./,
    );
    const tones = elements.filter(
      (element) => element.tagName === "path" && attribute(element, "class")?.startsWith("heat-"),
    );
    expect(tones).toHaveLength(5);
    expect(tones.every((tone) => /^(?:M[\d.]+ [\d.]+H[\d.]+V[\d.]+H[\d.]+z)+$/.test(attribute(tone, "d") ?? ""))).toBe(
      true,
    );
    const counts = countsIn(elements);
    expect(counts).toHaveLength(30);
    expect(counts.flat().reduce((sum, count) => sum + count, 0)).toBe(2 * ALL);
  });

  test("columns of different width are put on one scale, and nothing is lost", () => {
    const coarse = { response: loadHeat(16, 113, 400) };
    const phases = [loadPhase("a", { heat }), loadPhase("b", { startS: 61.5, durationS: 1_800, heat: coarse })];
    const counts = countsIn(figureOf(phases, "E2E latency over time"));
    expect(counts.flat().reduce((sum, count) => sum + count, 0)).toBe(ALL + 113 * 1_302 + 56 * 12);
  });

  test("a record without heat data has none", () => {
    expect(figureOf([loadPhase("a")], "E2E latency over time")).toEqual([]);
  });
});
