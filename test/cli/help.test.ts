import { readdirSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { main } from "../../src/cli/index.ts";
import { overview, ungrouped } from "../../src/cli/overview.ts";

afterEach(() => vi.restoreAllMocks());

/** Runs a command line in this process: separate processes would take a minute for this file. */
async function typed(...args: string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const into = (texts: string[], end: string) => (text: unknown) => {
    texts.push(`${String(text)}${end}`);
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(into(stdout, ""));
  vi.spyOn(process.stderr, "write").mockImplementation(into(stderr, ""));
  vi.spyOn(console, "log").mockImplementation(into(stdout, "\n"));
  const code = await main(args);
  vi.restoreAllMocks();
  return { code, stdout: stdout.join(""), stderr: stderr.join("") };
}

const { stdout: OVERVIEW } = await typed("--help");
const COMMANDS = [...OVERVIEW.matchAll(/^ {2}([a-z][\w-]*)(?: [<[]\S+)* {2,}\S/gm)]
  .map(([, name = ""]) => name)
  .filter((name) => name !== "gauntlet");

describe("the overview", () => {
  test("has every command once, in groups, with the first steps", () => {
    expect(COMMANDS).toHaveLength(28);
    expect(new Set(COMMANDS).size).toBe(28);
    const files = readdirSync(new URL("../../src/commands", import.meta.url));
    expect([...COMMANDS].sort()).toEqual(files.filter((file) => file !== "index.ts").sort());
    for (const group of ["Test a gateway", "Load and limits", "Compare and gate", "Set up", "Tools", "Examples"])
      expect(OVERVIEW).toContain(`\n${group}\n`);
  });

  test("finds a command without a group, and a group's command that does not exist", () => {
    const described = COMMANDS.map((command) => ({ command, describe: "" }));
    expect(ungrouped(described)).toEqual([]);
    expect(ungrouped([...described.slice(1), { command: "new [x]", describe: "" }])).toEqual(["new", COMMANDS[0]]);
  });

  test("breaks no word at 80 columns", () => {
    const lines = overview(
      [{ command: "limits", describe: "Measure the limits of an account: rate, burst, limiter and concurrency" }],
      60,
    ).split("\n");
    expect(lines).toContain("  limits  Measure the limits of an account: rate, burst,");
    expect(lines).toContain("          limiter and concurrency");
  });
});

const WITH_ACTIONS = [
  ["k6", "export"],
  ["k6", "import"],
  ["k6", "plan"],
  ["k8s", "export"],
  ["baseline", "accept"],
  ["waivers", "suggest"],
];
const PLAIN = COMMANDS.filter((name) => !WITH_ACTIONS.some(([first]) => first === name)).map((name) => [name]);

test.each([...PLAIN, ...WITH_ACTIONS])("%s %s shows two examples", async (...command) => {
  const words = command.filter((word) => typeof word === "string" && word !== "");
  const { stdout, code } = await typed(...words, "--help");
  expect(code).toBe(0);
  const [, examples = ""] = stdout.split("Examples:\n");
  expect(examples.match(new RegExp(`^ {2}gauntlet ${words.join(" ")}\\b`, "gm"))).toHaveLength(2);
});

test.each(["load", "run", "conform"])("%s has its options under headings", async (command) => {
  const { stdout } = await typed(command, "--help");
  const [, ungroupedOptions = ""] = stdout.split("\nOptions:\n");
  expect([...ungroupedOptions.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name)).toEqual(["--help", "--version"]);
  const headings = [...stdout.matchAll(/^([A-Z][^\n]*):$/gm)].map(([, heading]) => heading);
  for (const heading of [command === "load" ? "What to send" : "What to run", "Judging", "Output"])
    expect(headings).toContain(heading);
});

describe("a wrong command line gets a message in plain words, with what was probably meant", () => {
  test.each<[args: string[], says: string]>([
    [[], "no command given\n  Use one of the commands above."],
    [["--hlep"], 'there is no option --hlep\n  Did you mean "--help"?'],
    [["-v"], 'there is no option -v\n  Did you mean "--version"?'],
    [["baseline", "acept", "run"], 'unknown command "baseline acept"\n  Did you mean "accept"?'],
    [["k8s", "exprt", "own.yaml", "--shards", "2"], 'unknown command "k8s exprt"\n  Did you mean "export"?'],
    [["checks", "auht"], 'checks has no argument "auht"\n  See `gauntlet checks --help`'],
    [["conforn"], 'unknown command "conforn"\n  Did you mean "conform"? `gauntlet --help` lists the commands.'],
    [["lod", "starter"], 'unknown command "lod"\n  Did you mean "load"? `gauntlet --help` lists the commands.'],
    [["lod", "--target", "x"], 'unknown command "lod"\n  Did you mean "load"?'],
    [["conform", "acme"], 'there is no suite "acme"\n  The suites are '],
    [["frobnicate"], 'unknown command "frobnicate"\n  `gauntlet --help` lists the commands.'],
    [["frobnicate", "--help"], 'unknown command "frobnicate"\n  `gauntlet --help` lists the commands.'],
    [
      ["conform", "--tarket", "x"],
      'conform has no option --tarket\n  Did you mean "--target"? See `gauntlet conform --help` for its options.',
    ],
    [
      ["load", "starter", "--durration", "3"],
      "load has no option --durration\n  Set it in the workload file: `arrivals.durationS`.",
    ],
    [["conform", "eror"], 'there is no suite "eror"\n  Did you mean "errors"?'],
    [["conform", "auht"], 'there is no suite "auht"\n  Did you mean "auth"?'],
    [
      ["overhead", "--dialect", "caht"],
      'invalid value for --dialect: "caht"\n  Did you mean "chat"? Use chat, messages.',
    ],
    [["explain"], "an argument is missing: gauntlet explain <id>\n  See `gauntlet explain --help` for its options."],
    [["capacity"], "--objective must be given\n  See `gauntlet capacity --help` for its options."],
    [["conform", "--target"], "--target needs a value\n  See `gauntlet conform --help` for its options."],
    [
      ["init", "--ci", "gitlabb"],
      'invalid value for --ci: "gitlabb"\n  Did you mean "gitlab"? Use github, gitlab, jenkins, none.',
    ],
    [
      ["report", "run", "--format", "html,junit"],
      'invalid value for --format: "html,junit"\n  It takes one value. If an option may be repeated, give it once for each value.',
    ],
    [["completion", "tcsh"], 'invalid value for shell: "tcsh"\n  Use bash, zsh, fish.'],
    [
      ["conform", "--baseline", "b.json"],
      "--baseline needs --policy as well\n  See `gauntlet conform --help` for its options.",
    ],
    [["k6", "exprot"], 'Did you mean "export"?'],
    [["k6"], "an argument is missing: gauntlet k6 <action>"],
    [["load", "grwoth"], 'no tier, built-in workload or file is named "grwoth"\n  Did you mean "growth"?'],
    [["explain", "auth.unknwon-key"], 'Did you mean "auth.unknown-key"?'],
    [["size", "peek"], 'Did you mean "peak"?'],
  ])("%j", async (args, says) => {
    const { code, stdout, stderr } = await typed(...args);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/non-option|Unknown argument|Choices:|Missing required|Implications/);
    expect([code, stdout]).toEqual([2, ""]);
  });
});

test.each([
  [
    ["load", "-h"],
    ["load", "--help"],
  ],
  [
    ["help", "load"],
    ["load", "--help"],
  ],
  [["-h"], ["--help"]],
])("%s prints the same as %s", async (short, long) => {
  expect(await typed(...short)).toEqual(await typed(...long));
});
