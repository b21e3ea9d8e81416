import { expect, test } from "vitest";
import { instancesOf, type Selection, select, suiteOf } from "../../../src/checks/index.ts";
import { dropUndeclaredSuites } from "../../../src/run/suites/drop-undeclared-suites.ts";
import { isQuick } from "../../../src/run/suites/own-suites.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { CHECKS } from "../../../suites/index.ts";

const UPSTREAM = 'upstream: { controlUrl: "http://127.0.0.1:1", token: env:K }\n';
const TOKENS = "tokenLimits: { tokensPerMinute: 5000 }\n";

/** Which of the optional suites are part of a run. */
function suitesOf(section: string, selection: Selection = {}): string[] {
  const target = parseTarget(`baseUrl: http://127.0.0.1:1/v1\nkeys: { valid: env:K }\n${section}`, "t.yaml", {
    K: "key",
  });
  const suites = dropUndeclaredSuites(select(CHECKS, selection), selection, target).map(({ check }) =>
    suiteOf(check.id),
  );
  return [...new Set(suites)].filter((suite) => suite === "upstream" || suite === "token-limits");
}

test.each<[string, string, Selection, string[]]>([
  ["nothing is declared", "", {}, []],
  ["each is declared", UPSTREAM + TOKENS, {}, ["upstream", "token-limits"]],
  ["one is declared", TOKENS, {}, ["token-limits"]],
  ["the suite is named", "", { suites: ["token-limits"] }, ["token-limits"]],
  ["a check is named", "", { only: ["token-limits.enforced"] }, ["token-limits"]],
  ["a requirement is named", "", { only: ["TOKENS-DENIAL"] }, ["token-limits"]],
  ["a requirement of the other is named", "", { only: ["UPSTREAM-KEEP-ALIVE"] }, ["upstream"]],
  ["another suite is named", UPSTREAM + TOKENS, { suites: ["auth"] }, []],
])("optional suites: %s", (_name, section, selection, expected) => {
  expect(suitesOf(section, selection)).toEqual(expected);
});

test("no check of a limit on tokens is part of a quick run: they wait for windows", () => {
  const instances = CHECKS.filter(({ id }) => suiteOf(id) === "token-limits").flatMap(instancesOf);
  expect([instances.length, instances.filter(isQuick).length]).toEqual([6, 0]);
});
