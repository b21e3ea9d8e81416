import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { expect, test } from "vitest";
import { acceptRun } from "../../../src/commands/baseline/run.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";
import { recordOf, result } from "../../support/records.ts";

test("a baseline of a failed run, and one that replaces another, say so", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "baseline.json");
  const accept = (runId: string, status: "pass" | "fail") => {
    const record = recordOf([result("auth.one[chat]", status), result("auth.two[chat]", "pass")], { runId });
    writeFileSync(join(folder.path, "run.json"), JSON.stringify(record));
    return acceptRun(folder.path, file)
      .text(pc.createColors(false))
      .split("\n")
      .map((line) => line.replace(file, "FILE"));
  };
  expect(accept("first", "pass")).toEqual(["FILE: 2 check instances of run first", ""]);
  expect(accept("first", "pass")).toEqual(["FILE: 2 check instances of run first", ""]);
  expect(accept("second", "fail")).toEqual([
    "warning: the verdict of this run is fail. 1 failed check instance will not count as newly failing in later runs.",
    "warning: replaced run first in the baseline",
    "FILE: 2 check instances of run second",
    "",
  ]);
});
