import { describe, expect, test } from "vitest";
import { gauntlet } from "../support/gauntlet.ts";
import { HAS_TERMINAL, linesInTerminal } from "../support/terminal.ts";

const COUNT = /^(\d+) checks, \d+ check instances$/;

describe("gauntlet checks", () => {
  test.skipIf(!HAS_TERMINAL)("fits a terminal with 80 columns, in one table with whole words", async () => {
    const lines = linesInTerminal(["checks"], { columns: 80 });
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => line.startsWith("┌"))).toHaveLength(1);
    expect(lines.filter((line) => /[│┐┤┘]$/.test(line)).every((line) => line.length === 80)).toBe(true);
    const known = JSON.parse((await gauntlet(["checks", "--json"])).stdout).checks as {
      id: string;
      requirements: { id: string }[];
    }[];
    const words = lines.join(" ").split(/[\s,│]+/);
    for (const { id, requirements } of known)
      for (const name of [id, ...requirements.map((one) => one.id)]) expect(words).toContain(name);
  });

  test("has one line for each check if its output is not a terminal, whatever COLUMNS says", async () => {
    const { stdout } = await gauntlet(["checks"], { COLUMNS: "40" });
    const [, count] = COUNT.exec(stdout.trimEnd().split("\n").at(-1) ?? "") ?? [];
    const rows = stdout.split("\n").filter((line) => line.startsWith("│ "));
    // The first one is the head.
    expect(rows).toHaveLength(Number(count) + 1);
    expect(rows.find((row) => row.startsWith("│ auth.unknown-key "))).toMatch(
      /│ 3 +│ AUTH-3 \(MUST\), .*ERR-BODY-3 \(OPEN\)/,
    );
  });
});
