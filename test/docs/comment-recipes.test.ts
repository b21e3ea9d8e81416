import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CI_JOBS } from "../../src/commands/init/ci-jobs.ts";
import { gauntlet, MAIN, temporaryFolder } from "../support/gauntlet.ts";

/** The script of each job that posts the comment. */
const SCRIPTS = {
  GitHub: parse(CI_JOBS.github.text).jobs.gauntlet.steps.find((step: { run?: string }) =>
    step.run?.includes("--format comment"),
  ).run as string,
  GitLab: parse(CI_JOBS.gitlab.text).gauntlet.after_script.at(-1) as string,
};

/** Stands in for the platform's client: prints the comments that exist, and records its arguments. */
const client = (comments: string) => `#!/bin/sh
printf '%s\\n' "$*" >>calls.txt
case "$*" in *PATCH*|*PUT*|*POST*|*"-F body"*) ;; *) printf '%s' '${comments}' ;; esac
`;

async function posted(
  script: string,
  clients: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>> = {},
) {
  using folder = temporaryFolder();
  const bin = join(folder.path, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "gauntlet"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  for (const [name, text] of Object.entries(clients)) writeFileSync(join(bin, name), text);
  for (const name of ["gauntlet", ...Object.keys(clients)]) chmodSync(join(bin, name), 0o755);
  const run = ["conform", "models", "--target", "embedded", "--out", "gauntlet-run"];
  await gauntlet(run, {}, folder.path);
  cpSync(join(folder.path, "gauntlet-run"), join(folder.path, "base-run"), { recursive: true });
  writeFileSync(join(folder.path, "base-run/earlier.txt"), "");
  const done = spawnSync("bash", ["-e", "-c", script], {
    cwd: folder.path,
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: `${bin}:${process.env["PATH"]}`,
      GITHUB_ACTIONS: "",
      GITHUB_SERVER_URL: "https://github.example",
      GITHUB_REPOSITORY: "o/r",
      GITHUB_RUN_ID: "9",
      PULL_REQUEST: "7",
      CI_JOB_URL: "https://ci.example/1",
      CI_API_V4_URL: "https://ci.example/api",
      CI_PROJECT_ID: "3",
      CI_MERGE_REQUEST_IID: "7",
      GAUNTLET_TOKEN: "t",
      ...variables,
    },
  });
  expect(done.status, done.stdout + done.stderr).toBe(0);
  const read = (path: string) =>
    existsSync(join(folder.path, path)) ? readFileSync(join(folder.path, path), "utf8") : "";
  const calls = read("calls.txt").split("\n").filter(Boolean);
  return { comment: read("gauntlet-run/comment.md"), calls, base: readdirSync(join(folder.path, "base-run")) };
}

describe.concurrent("recipes for a comment", () => {
  test("GitHub: creates a comment, and replaces it the next time", { timeout: 60_000 }, async () => {
    const first = await posted(SCRIPTS.GitHub, { gh: client("") });
    expect(first.comment).toContain("No check changed.");
    expect(first.comment).toContain("[Report](https://github.example/o/r/actions/runs/9)");
    expect(first.calls.at(-1)).toBe("api --silent repos/o/r/issues/7/comments -F body=@gauntlet-run/comment.md");
    const again = await posted(SCRIPTS.GitHub, { gh: client("41") });
    expect(again.calls.at(-1)).toContain("-X PATCH repos/o/r/issues/comments/41 -F body=@gauntlet-run/comment.md");
  });

  test("GitLab: without a token for comments, the job ends quietly", { timeout: 60_000 }, async () => {
    const { calls } = await posted(SCRIPTS.GitLab, { curl: client("[]") }, { GAUNTLET_TOKEN: "" });
    expect(calls).toEqual([]);
  });

  test("GitLab: on the default branch, the job keeps its run for the comparison", { timeout: 60_000 }, async () => {
    const { calls, base } = await posted(SCRIPTS.GitLab, { curl: client("[]") }, { CI_MERGE_REQUEST_IID: "" });
    expect(calls).toEqual([]);
    expect(base).toContain("run.json");
    expect(base).not.toContain("earlier.txt");
  });

  test("GitLab: finds its note behind the first hundred", { timeout: 60_000 }, async () => {
    const others = Array.from({ length: 100 }, (_, id) => ({ id, body: "other" }));
    const curl = `#!/bin/sh
printf '%s\\n' "$*" >>calls.txt
case "$*" in
*PUT*|*POST*) ;;
*"page=1") printf '%s' '${JSON.stringify(others)}' ;;
*) printf '%s' '[{"id":141,"body":"'"$(head -1 gauntlet-run/comment.md)"' old"}]' ;;
esac
`;
    const { calls } = await posted(SCRIPTS.GitLab, { curl });
    expect(calls).toHaveLength(3);
    expect(calls.at(-1)).toMatch(/-X PUT .*merge_requests\/7\/notes\/141$/);
  });

  test("GitLab: creates a note, and replaces it the next time", { timeout: 60_000 }, async () => {
    const first = await posted(SCRIPTS.GitLab, { curl: client("[]") });
    expect(first.comment).toContain("[Report](https://ci.example/1/artifacts/browse)");
    expect(first.calls.at(-1)).toMatch(/-X POST .*body@gauntlet-run\/comment\.md .*merge_requests\/7\/notes$/);
    const marker = first.comment.split("\n")[0];
    const again = await posted(SCRIPTS.GitLab, { curl: client(JSON.stringify([{ id: 41, body: `${marker}\nold` }])) });
    expect(again.calls.at(-1)).toMatch(/-X PUT .*merge_requests\/7\/notes\/41$/);
  });
});
