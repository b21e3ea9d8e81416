import { appendFileSync } from "node:fs";
import { FORMATS, type ReportSource } from "../../../reports/index.ts";
import { messageOf } from "../../core/index.ts";

/**
 * In a job of GitHub Actions: adds the summary of a run to the job summary, and annotates its causes. Annotations go to stderr, so
 * that stdout is the same as everywhere else. GitLab and Jenkins read `junit.xml` from the run folder.
 */
export function reportToCi(source: ReportSource, environment: NodeJS.ProcessEnv = process.env): void {
  if (environment["GITHUB_ACTIONS"] !== "true") return;
  const summary = environment["GITHUB_STEP_SUMMARY"];
  const textOf = (format: "markdown" | "annotations") => [...FORMATS[format](source, "single").values()].join("");
  try {
    if (summary !== undefined && summary !== "") appendFileSync(summary, textOf("markdown"));
  } catch (error) {
    process.stderr.write(`gauntlet: the summary of the job cannot be written: ${messageOf(error)}\n`);
  }
  process.stderr.write(textOf("annotations"));
}
