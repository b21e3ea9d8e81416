import type { JudgedRun } from "../../record/index.ts";
import { withLateGenerator } from "../measure/run-record.ts";

/**
 * Concurrent runs from one process share its event loop and CPU: if one of them shows that the generator was not on time, it was
 * not on time for the others either. What an external process sent is judged separately.
 */
export function shareValidity(runs: readonly JudgedRun[]): JudgedRun[] {
  const late = runs.filter(({ engine, generator }) => engine !== "k6" && !generator.valid);
  const problems = late.flatMap(({ name, generator }) =>
    generator.problems.map((problem) => `${name}, in the same process: ${problem}`),
  );
  return runs.map((run) =>
    late.length === 0 || run.engine === "k6" || !run.generator.valid ? run : withLateGenerator(run, problems),
  );
}
