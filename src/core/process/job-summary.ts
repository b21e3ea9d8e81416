import { appendFileSync } from "node:fs";
import { messageOf } from "../errors.ts";

/** Whether this process runs in a job of GitHub Actions. */
export function isGithubJob(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment["GITHUB_ACTIONS"] === "true";
}

/** Adds Markdown to the summary of the job of GitHub Actions. If that fails, stderr says so: the result of the run stays the same. */
export function appendJobSummary(markdown: string, environment: NodeJS.ProcessEnv = process.env): void {
  const file = environment["GITHUB_STEP_SUMMARY"] ?? "";
  if (file === "") return;
  try {
    appendFileSync(file, markdown);
  } catch (error) {
    process.stderr.write(`gauntlet: the summary of the job cannot be written: ${messageOf(error)}\n`);
  }
}
