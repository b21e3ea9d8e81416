import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { workflowCommand } from "../../src/core/index.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { httpServer } from "../support/judge.ts";

test("in GitHub Actions, an error before there is a verdict annotates the job", async () => {
  const args = ["conform", "--target", "no%20file.yaml"];
  const { code, stderr } = await gauntlet(args, { GITHUB_ACTIONS: "true" });
  expect(code).toBe(2);
  const commands = stderr.split("\n").filter((line) => line.startsWith("::"));
  expect(commands).toHaveLength(1);
  expect(commands[0]).toMatch(/^::error title=Gauntlet::.*no%2520file\.yaml/);
  const locally = await gauntlet(args);
  expect(locally.stderr).not.toContain("\n::error title=");
});

test("an error in a file is annotated at its line", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "ci"));
  writeFileSync(join(folder.path, "ci", "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:NOT_SET }\n");
  const inWorkspace = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: folder.path };
  const { stderr } = await gauntlet(["conform", "--target", "t.yaml"], inWorkspace, join(folder.path, "ci"));
  expect(stderr).toMatch(/^::error file=ci\/t\.yaml,line=2,title=Gauntlet::t\.yaml:2:\d+ \(keys\.valid\): /m);
  const inOtherWorkspace = { ...inWorkspace, GITHUB_WORKSPACE: join(folder.path, "other") };
  const outside = await gauntlet(["conform", "--target", "t.yaml"], inOtherWorkspace, join(folder.path, "ci"));
  expect(outside.stderr).toMatch(/^::error title=Gauntlet::/m);
});

test("the file is relative to the repository root, and omitted if it is outside the repository", () => {
  vi.stubEnv("GITHUB_WORKSPACE", "/repository");
  const command = (file: string, line?: number) => workflowCommand("error", "Gauntlet", "no", { file, line });
  expect(command("/repository/ci/own.ts", 3)).toBe("::error file=ci/own.ts,line=3,title=Gauntlet::no");
  expect(command("/repository/ci/own.ts")).toBe("::error file=ci/own.ts,title=Gauntlet::no");
  expect(command("/other/own.ts", 3)).toBe("::error title=Gauntlet::no");
  vi.unstubAllEnvs();
});

test.each([
  ["that is down", "http://127.0.0.1:9/v1", 3, "connection refused"],
  ["whose baseUrl includes an endpoint path", "/v1/chat/completions", 2, "does not look like a model gateway"],
])("a gateway %s: the job summary and the comment say so", async (_what, baseUrl, exitCode, says) => {
  using folder = temporaryFolder();
  await using server = await httpServer((_request, _body, response) => response.writeHead(404).end());
  const address = baseUrl.startsWith("http") ? baseUrl : `${server.baseUrl.replace(/\/v1$/, "")}${baseUrl}`;
  writeFileSync(join(folder.path, "t.yaml"), `name: shop\nbaseUrl: ${address}\nkeys: { valid: env:K }\n`);
  const summary = join(folder.path, "summary.md");
  const job = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary, K: "ck-valid-0123456789" };
  const { code } = await gauntlet(["run", "--target", "t.yaml", "--out", "ran"], job, folder.path);
  expect(code).toBe(exitCode);
  expect(readFileSync(summary, "utf8")).toMatch(new RegExp(`^## Gauntlet: exit code ${exitCode}\n[^]*${says}`));
  await gauntlet(["report", "ran", "--format", "comment"], {}, folder.path);
  const comment = readFileSync(join(folder.path, "ran", "comment.md"), "utf8");
  expect(comment).toMatch(/^### ! ERROR: shop at .*: nothing was judged$/m);
  expect(comment).toContain(says);
  expect(comment).not.toContain("cut off");
});

test("a key that is a word or a single letter does not damage the journal", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K, second: env:L }\n");
  await gauntlet(["run", "--target", "t.yaml", "--out", "ran"], { K: "a", L: "EMPTY" }, folder.path);
  const { stderr } = await gauntlet(["report", "ran", "--format", "comment"], {}, folder.path);
  expect(stderr).not.toContain("not one of this version");
  expect(readFileSync(join(folder.path, "ran", "comment.md"), "utf8")).toContain("connection refused");
});
