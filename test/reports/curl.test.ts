import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { curlPreparation, maskNotes } from "../../reports/evidence/curl.ts";
import { curlLine, renderTerminal } from "../../reports/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { hostileSource } from "../support/hostile.ts";
import { recordOf, result } from "../support/records.ts";
import { HAS_TERMINAL, linesInTerminal } from "../support/terminal.ts";

const request = { method: "POST", url: "http://127.0.0.1:1/v1/chat/completions", headers: [] } as const;
const lineOf = (body: string, bodyBytes = Buffer.byteLength(body)) =>
  curlLine({ request: { ...request, body, bodyBytes } }, () => "KEY");

/** The arguments that a shell passes to the program of a command. */
function argumentsOf(line: string): string[] {
  const program = `curl() { ${process.execPath} -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }`;
  return JSON.parse(spawnSync("bash", ["-c", `${program}\n${line}`], { encoding: "utf8" }).stdout);
}

describe("a curl command", () => {
  test.each([
    ["quotes", `{"a":"it's \\"b\\" $HOME \`id\` !x"}`],
    ["line breaks and tabs", "{\r\n\t'a': 1\n}"],
    ["characters that reorder or hide text", "a\u202eb\u200bc\u2028d"],
    ["characters that a report would replace", "\ue000 \u{10ffff} \u0085"],
    ["an emoji before a hexadecimal digit", "\u200d😀 \u001bff"],
  ])("on one line passes a body with %s on unchanged", (_what, body) => {
    const line = lineOf(body);
    expect(line).not.toMatch(/[\n\t]|\P{ASCII}\p{C}|\p{Cf}/u);
    expect(argumentsOf(line ?? "").slice(-2)).toEqual(["--data-binary", body]);
  });

  test.each([
    ["is too long to paste", "x".repeat(4_000), 4_000],
    ["was recorded only in part", "x", 1_000_000],
    ["is not text", "\ufffd", 1],
    ["contains a null character", "a\0b", 3],
  ])("does not exist for a body that %s", (_what, body, bytes) => {
    expect(lineOf(body, bytes)).toBeUndefined();
  });
});

test("for a request without a curl command, the command that runs the check again is printed", () => {
  const { record, evidence } = hostileSource();
  const text = renderTerminal(record, {
    colors: pc.createColors(false),
    folder: "run",
    evidence: (id) => {
      const found = evidence(id);
      return found && { ...found, request: { ...found.request, body: "x".repeat(4_000), bodyBytes: 4_000 } };
    },
  });
  expect(text).not.toContain("curl -sS");
  expect(text).toMatch(
    /exchange .* cannot be written as a curl command\. To send it again:\n {4}gauntlet conform --only /,
  );
});

const HAS_CURL = spawnSync("curl", ["--version"]).status === 0;

test.skipIf(!HAS_TERMINAL || !HAS_CURL)(
  "a command copied from a terminal with 80 columns repeats the request; Markdown and JUnit have whole commands, too",
  async () => {
    using folder = temporaryFolder();
    await using gateway = startGauntlet(["gateway", "--mutation", "auth.unknown-key-403"]);
    const { baseUrl, keys } = JSON.parse(await gateway.printed("\n"));
    // Longer than what a report shows of other texts.
    const target = `${`${"long-name-".repeat(20)}/`.repeat(4)}target.yaml`;
    mkdirSync(join(folder.path, dirname(target)), { recursive: true });
    writeFileSync(
      join(folder.path, target),
      `baseUrl: ${baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\n`,
    );
    const environment = { K: keys.valid };
    const run = ["conform", "--only", "auth.unknown-key", "--target", target, "--out", "run"];
    expect((await gauntlet(run, environment, folder.path)).code).toBe(1);

    const lines = linesInTerminal(["report", "run", "--print", "terminal"], { columns: 80, cwd: folder.path });
    const commands = lines.map((line) => line.trim()).filter((line) => line.startsWith("curl "));
    expect(lines.filter((line) => line.length > 80).map((line) => line.trim())).toEqual(commands);
    const statuses = commands.map((command) => {
      const { stdout } = spawnSync("bash", ["-c", command], {
        encoding: "utf8",
        env: { ...process.env, ...environment },
      });
      return Number(/^HTTP\/1.1 (\d+)/.exec(stdout)?.[1]);
    });
    expect(statuses).toEqual([403, 200]);

    for (const format of ["markdown", "junit"]) {
      const { stdout } = await gauntlet(["report", "run", "--print", format], {}, folder.path);
      expect(stdout.replaceAll("&#58;", ":")).toContain(`--target ${target} --seed`);
    }
  },
);

test("what must be done before a command works: the key's variable, and a gateway that ended with the run", () => {
  const command = `curl -sS http://127.0.0.1:9/v1 -H "Authorization: Bearer $GAUNTLET_KEY_VALID"`;
  const record = recordOf([result("a.b", "pass")]);
  const at = (source: string) => ({ ...record, target: { ...record.target, source } });
  expect(curlPreparation([command], at("gauntlet.yaml"))).toEqual(["Set the key first: export GAUNTLET_KEY_VALID=…"]);
  expect(curlPreparation([command, command.replace("VALID", "SECOND"), command], at("gauntlet.yaml"))).toEqual([
    "Set the keys first: export GAUNTLET_KEY_VALID=… GAUNTLET_KEY_SECOND=…",
  ]);
  expect(curlPreparation([], at("embedded"))).toEqual([]);
  expect(curlPreparation(["curl http://127.0.0.1:9/v1"], at("gauntlet.yaml"))).toEqual([]);
  expect(curlPreparation([command], at("embedded")).join(" ")).toMatch(
    /stopped at the end of the run.*with `gauntlet gateway`/,
  );
});

test("each mask in a command is explained: how many characters of which key belong there", () => {
  const command =
    "curl -H 'Authorization: Bearer [key.valid]***x' --data-binary '[key.limited.0.second] [key.valid]***'";
  expect(maskNotes(command, (key) => (key === "valid" ? "GW_KEY" : "GAUNTLET_KEY_LIMITED_0_SECOND"))).toEqual([
    "[key.valid]*** hides 14 characters of the key in $GW_KEY; put them in its place.",
    "[key.limited.0.second] hides 22 characters of the key in $GAUNTLET_KEY_LIMITED_0_SECOND; put them in its place.",
  ]);
  expect(maskNotes("curl http://127.0.0.1:9/v1", () => "GW_KEY")).toEqual([]);
});

test("the terminal says once, after the causes, what to do before a command works", async () => {
  using folder = temporaryFolder();
  const run = ["conform", "--only", "auth.near-key", "--mutation", "auth.messages-with-any-key", "--out", "run"];
  const { stdout } = await gauntlet(run, {}, folder.path);
  expect(stdout).toMatch(
    /^ {4}\[key\.valid\]\*\*\* hides \d+ characters of the key in \$GAUNTLET_KEY_VALID; put them in its place\.$/m,
  );
  expect(stdout.match(/Set the key first: export GAUNTLET_KEY_VALID=…/g)).toHaveLength(1);
  expect(stdout.match(/Start it again with `gauntlet gateway --mutation auth\.messages-with-any-key`/g)).toHaveLength(
    1,
  );
});
