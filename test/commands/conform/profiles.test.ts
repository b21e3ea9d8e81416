import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readOrRecover } from "../../../src/run/record/index.ts";
import { type Finished, gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const CHAT = ["conform", "service", "chat", "models", "--target", "embedded"];
const run = join(folder.path, "chat");
let chat: Finished;
beforeAll(async () => {
  chat = await gauntlet([...CHAT, "--profile", "chat", "--mutation", "models.name-for-id", "--out", run]);
});

const readRun = (path: string) => JSON.parse(readFileSync(join(path, "run.json"), "utf8"));

test("the profiles come first in every output, and only the chosen ones decide", async () => {
  expect(chat.code).toBe(0);
  const line = chat.stdout.split("\n").findIndex((text) => text.startsWith("chat: conformant · "));
  expect(chat.stdout.split("\n")[line + 1]).toMatch(/^PASS: /);
  expect(chat.stdout).toContain(" · money: not claimed · ");
  expect(readFileSync(join(run, "summary.md"), "utf8")).toMatch(/^\*\*chat: conformant · .*anthropic-sdk: .*\*\*\n/);
  const page = readFileSync(join(run, "report.html"), "utf8");
  expect(page.indexOf("<strong>chat</strong>: conformant")).toBeLessThan(page.indexOf("<h1"));
  const { stdout } = await gauntlet(["report", run, "--print", "json"]);
  expect(Object.keys(JSON.parse(stdout)).slice(0, 2)).toEqual(["schemaVersion", "profiles"]);
  const comment = await gauntlet(["report", run, "--print", "comment"]);
  expect(comment.stdout.split("\n").filter((text) => text !== "")[1]).toMatch(/^\*\*chat: conformant · /);
});

test("a failure that no chosen profile requires is shown, and fails nothing that reads the results", async () => {
  expect(chat.stdout).toMatch(/ · models-and-auth: not conformant \(\d causes?\) · /);
  const { counts, notDeciding, verdict } = readRun(run);
  expect(counts.fail).toBeGreaterThan(0);
  expect([verdict.result, verdict.reasons]).toEqual(["pass", []]);
  expect(notDeciding).toHaveLength(counts.fail + counts.blocked + counts.inconclusive);
  const junit = readFileSync(join(run, "junit.xml"), "utf8");
  expect(junit).not.toContain("<failure");
  expect(junit).toContain("no chosen profile requires it");
  const { results } = JSON.parse(readFileSync(join(run, "ctrf.json"), "utf8"));
  expect(results.summary.failed).toBe(0);
  const annotations = await gauntlet(["report", run, "--print", "annotations"]);
  expect(annotations.stdout).not.toContain("::error");
  const sarif = JSON.parse((await gauntlet(["report", run, "--print", "sarif"])).stdout);
  const open = sarif.runs[0].results.filter((one: { level: string }) => one.level === "error");
  expect(open.every((one: object) => "suppressions" in one)).toBe(true);
});

test("a run that was killed before it wrote its record fails for nothing that no chosen profile requires", () => {
  const killed = join(folder.path, "killed");
  cpSync(run, killed, { recursive: true });
  rmSync(join(killed, "run.json"));
  const { counts, verdict, profiles, notDeciding } = readOrRecover(killed);
  expect(counts.fail).toBeGreaterThan(0);
  expect([verdict.result, verdict.exitCode]).toEqual(["inconclusive", 4]);
  expect(profiles).toEqual(readRun(run).profiles);
  expect(notDeciding).toEqual(readRun(run).notDeciding);
});

test("a stored run is judged again with its profiles", async () => {
  const { code, stdout } = await gauntlet(["rejudge", run, "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).profiles).toEqual(readRun(run).profiles);
});

test("a violated MUST of a chosen profile fails the run, and one of another profile does not", async () => {
  const usage = ["--only", "chat.minimal", "--only", "chat.every-usage", "--mutation", "chat.usage-missing"];
  const args = (profile: string, out: string) => [
    ...["conform", "--target", "embedded", ...usage, "--profile", profile, "--out", join(folder.path, out)],
  ];
  const violated = await gauntlet(args("chat", "violated"));
  expect(violated).toMatchObject({ code: 1, stdout: expect.stringContaining("\nchat: not conformant (") });
  // What messages requires was not selected: that is not a pass either.
  const other = await gauntlet(args("messages", "other"));
  expect(other.code).toBe(4);
  expect(other.stdout).toMatch(/\nmessages: partial \(\d+ skipped\) · chat: not conformant \(/);
});

test("the target file chooses profiles, and --profile replaces them", async () => {
  const upstream = join(folder.path, "gauntlet.yaml");
  const of = (profiles: string) =>
    writeFileSync(upstream, `baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\nprofiles: ${profiles}\n`);
  of("[chat, straming]");
  const misspelled = await gauntlet(["conform", "--target", upstream], { K: "k" });
  expect(misspelled.code).toBe(2);
  expect(misspelled.stderr).toContain('Did you mean "streaming"?');
  expect(misspelled.stderr).toContain("profiles.1");
  of("[]");
  expect((await gauntlet(["conform", "--target", upstream], { K: "k" })).code).toBe(2);
  const unknown = await gauntlet([...CHAT, "--profile", "chatt"]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "chat"?') });
});

test("what real clients need fails where an SDK profile is chosen, and warns where none is", async () => {
  const done = ["--only", "compat.chat-stream", "--mutation", "compat.chat-no-done"];
  const args = ["conform", "--target", "embedded", ...done];
  const without = await gauntlet([...args, "--out", join(folder.path, "without")]);
  expect(without.code).toBe(0);
  expect(without.stdout).not.toContain("conformant");
  expect(readRun(join(folder.path, "without"))).not.toHaveProperty("profiles");
  const raised = await gauntlet([...args, "--profile", "openai-sdk", "--out", join(folder.path, "raised")]);
  expect(raised).toMatchObject({ code: 1, stdout: expect.stringContaining("openai-sdk: not conformant (1 cause)") });
  expect(readRun(join(folder.path, "raised")).counts.fail).toBeGreaterThan(0);
});

test("explain prints a profile", async () => {
  const { stdout } = await gauntlet(["explain", "openai-sdk"]);
  expect(stdout).toMatch(/COMPAT-CHAT-DONE \(MUST\)/);
  expect(stdout).toMatch(/COMPAT-IMAGES \(MUST, if the target declares models\.chat\.images\)/);
});
