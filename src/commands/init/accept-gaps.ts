import { readFileSync } from "node:fs";
import { CHECKS } from "../../../suites/index.ts";
import { gapsOf, instancesOf } from "../../checks/index.ts";
import { EXIT, formatCount, UsageError } from "../../core/index.ts";
import { withLines } from "../../propose/index.ts";
import { writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { dropUndeclaredSuites } from "../../run/suites/index.ts";
import { loadTarget, type Target } from "../../target/index.ts";

/**
 * Declares every state that the target file lacks as a gap, under `skip`: the checks that need one are then not applicable, and the
 * verdict says "partial". Sends nothing.
 *
 * @param today for the reason of each gap.
 * @throws UsageError for the embedded gateway, ConfigError for an invalid target file.
 */
export function acceptGaps(file: string, today = new Date()): Outcome {
  if (file === "embedded")
    throw new UsageError("the embedded gateway has no gaps", { hint: "Name a target file with --target." });
  const target = loadTarget(file, process.env);
  const { none, partly } = openGaps(target);
  const reason = `not available; accepted on ${today.toISOString().slice(0, 10)}`;
  if (none.length > 0) {
    const lines = none.map((state) => ({ path: ["skip", state], value: reason }));
    writeAtomically(file, withLines(readFileSync(file, "utf8"), lines, []));
  }
  const said =
    none.length === 0
      ? `${file} has no gaps to accept`
      : `accepted ${formatCount(none.length, "gap")} in ${file}, under skip: ${none.join(", ")}\nChecks that need any of these are now not applicable, and the verdict is partial. Edit the reasons.`;
  const left = partly.map(
    (state) =>
      `not accepted: ${state} exists in one dialect only. Add it for the other, or remove that dialect from \`dialects\`.`,
  );
  return {
    exitCode: EXIT.pass,
    text: () => `${[said, ...left].join("\n")}\n`,
  };
}

const openGaps = (target: Target) => gapsOf(dropUndeclaredSuites(CHECKS.flatMap(instancesOf), {}, target), target);

/** Whether the target file has, or declares as a gap, everything that its checks need. */
export function hasNoGaps(target: Target): boolean {
  const { none, partly } = openGaps(target);
  return none.length + partly.length === 0;
}
