import { appendFileSync } from "node:fs";
import { messageOf } from "../errors.ts";

/** Whether this process runs in a job of GitHub Actions. */
export function isGithubJob(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment["GITHUB_ACTIONS"] === "true";
}

/** Appends Markdown to the GitHub Actions job summary. A failure is reported on stderr and does not change the result of the run. */
export function appendJobSummary(markdown: string, environment: NodeJS.ProcessEnv = process.env): void {
  const file = environment["GITHUB_STEP_SUMMARY"] ?? "";
  if (file === "") return;
  try {
    appendFileSync(file, markdown);
  } catch (error) {
    process.stderr.write(`gauntlet: cannot write the job summary: ${messageOf(error)}\n`);
  }
}
