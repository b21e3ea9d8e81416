import type { JudgedRun } from "../record/index.ts";
import { withoutTiming } from "./phase-record.ts";

/**
 * Concurrent runs from one process share its event loop and CPU: if one of them shows that the generator was not on time, it was
 * not on time for the others either. What an external process sent is judged separately.
 */
export function shareValidity(runs: readonly JudgedRun[]): JudgedRun[] {
  const late = runs.filter(({ engine, generator }) => engine !== "k6" && !generator.valid);
  if (late.length === 0) return [...runs];
  return runs.map((run) => {
    if (run.engine === "k6" || !run.generator.valid) return run;
    const problems = late.flatMap(({ name, generator }) =>
      generator.problems.map((problem) => `${name}, in the same process: ${problem}`),
    );
    const phases = run.phases.map(withoutTiming);
    const failed = phases
      .filter(({ verdict }) => verdict === "fail")
      .map(({ name, message }) => ({ text: `${name}: ${message}`, phase: name }));
    return {
      ...run,
      verdict: failed.length > 0 ? "fail" : "inconclusive",
      reasons: [...failed, ...problems.map((problem) => ({ text: `generator: ${problem}` }))],
      phases,
      generator: { ...run.generator, valid: false, problems },
    };
  });
}
