import { expect, test } from "vitest";
import { type Selection, select } from "../../../src/checks/index.ts";
import { CHECKS } from "../../../suites/index.ts";

const ids = (selection: Selection) => select(CHECKS, selection).map(({ id }) => id);

test("a check of a named suite", () => {
  expect(ids({ suites: ["robustness"], only: ["robustness.counts"] })).toEqual(["robustness.counts"]);
  expect(ids({ only: ["robustness.counts"] })).toEqual(["robustness.counts"]);
});

test.each<[what: string, selection: Selection, says: RegExp, hint: RegExp]>([
  [
    "a check of another suite",
    { suites: ["auth"], only: ["robustness.counts"] },
    /robustness\.counts is in the suite robustness, but only auth is selected/,
    /Omit the suites, or add robustness/,
  ],
  [
    "a check in place of a suite",
    { suites: ["robustness.counts"] },
    /"robustness\.counts" is a check or a requirement, not a suite/,
    /--only robustness\.counts/,
  ],
  [
    "a suite in place of a check",
    { only: ["robustness"] },
    /"robustness" is a suite, but --only takes checks and requirements/,
    /gauntlet conform robustness/,
  ],
  ["an unknown name", { only: ["robustness.countz"] }, /there is no check "robustness\.countz"/, /counts/],
  [
    "several checks in one value",
    { only: ["robustness.counts,auth.unknown-key[messages]"] },
    /lists 2 checks, but --only takes one/,
    /^Repeat --only for each check: --only 'robustness\.counts' --only 'auth\.unknown-key\[messages\]'\.$/,
  ],
])("%s", (_what, selection, says, hint) => {
  expect(() => ids(selection)).toThrow(says);
  expect(() => ids(selection)).toThrow(expect.objectContaining({ hint: expect.stringMatching(hint) }));
});
