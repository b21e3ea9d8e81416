import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { linkedSource, REQUIREMENTS, requirementOf, specificationPlaces } from "../../src/requirements/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}docs/specification.md`, "utf8");
const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = ""]) => id);

describe("docs/specification.md", () => {
  test("has an anchor for every place that a requirement cites", () => {
    const cited = new Set(REQUIREMENTS.flatMap(specificationPlaces));
    expect([...cited].filter((place) => !anchors.includes(place))).toEqual([]);
  });

  test("every requirement of the specification cites places and nothing else", () => {
    const own = REQUIREMENTS.filter(({ layer }) => layer === "specification");
    expect(own.filter((one) => specificationPlaces(one).join(", ") !== one.source).map(({ id }) => id)).toEqual([]);
  });

  test("has each anchor once, and no place that no requirement cites, except whole sections", () => {
    expect(anchors.length).toBe(new Set(anchors).size);
    const cited = new Set(REQUIREMENTS.flatMap(specificationPlaces));
    expect(anchors.filter((id) => !/^\d(\.\d)?$/.test(id)).filter((id) => !cited.has(id))).toEqual([]);
  });
});

test.each([
  ["AUTH-2", ["5.R3", "7.T.invalid_api_key"], "<5.R3>, <7.T.invalid_api_key>"],
  ["LIMIT-CHANGE", ["2.7", "8"], "specification <2.7> and <8>; common sense"],
  ["UPSTREAM-TIMEOUT", ["7.T.5xx"], "RFC 9110, 15.6.5; specification <7.T.5xx>"],
  ["HTTP-METHOD", [], "RFC 9110, 15.5.6"],
] as const)("%s cites %j", (id, places, linked) => {
  const requirement = requirementOf(id);
  expect(specificationPlaces(requirement)).toEqual(places);
  expect(linkedSource(requirement, (place) => `<${place}>`)).toBe(linked);
});
