import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EXCLUSIONS, REQUIREMENTS } from "../../src/requirements/index.ts";
import { CHECKS } from "../../suites/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("the requirements", () => {
  test("holds every statement of the interface with its level", () => {
    const own = REQUIREMENTS.filter(({ layer }) => layer === "specification");
    const count = (level: string) => own.filter((requirement) => requirement.level === level).length;
    expect([own.length, count("MUST"), count("SHOULD"), count("MAY"), count("OPEN")]).toEqual([143, 84, 31, 2, 26]);
    expect(new Set(REQUIREMENTS.map(({ id }) => id)).size).toBe(REQUIREMENTS.length);
  });

  test("every requirement is covered by a check or excluded with a reason, and no excluded requirement is covered", () => {
    const covered = new Set(CHECKS.flatMap(({ covers }) => [...covers]));
    const excluded = new Set(EXCLUSIONS.map(({ requirement }) => requirement));
    expect(REQUIREMENTS.filter(({ id }) => !covered.has(id) && !excluded.has(id)).map(({ id }) => id)).toEqual([]);
    expect(
      EXCLUSIONS.filter(({ requirement }) => covered.has(requirement)).map(({ requirement }) => requirement),
    ).toEqual([]);
  });

  test("every requirement that binds clients names a test, and the test names the requirement", () => {
    const client = EXCLUSIONS.filter(({ kind }) => kind === "client");
    expect(client.length).toBeGreaterThan(30);
    for (const { requirement, test: path = "" } of client) {
      expect(readFileSync(root + path, "utf8").includes(requirement), `${path} mentions ${requirement}`).toBe(true);
    }
  });

  test("a check explains itself, and covers requirements that exist", () => {
    for (const check of CHECKS) {
      expect(check.explains.length, check.id).toBeGreaterThan(50);
      expect(check.title.length, check.id).toBeGreaterThan(10);
    }
  });
});
