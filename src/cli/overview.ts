import { docsAddress, NAME } from "../core/index.ts";
import { wrap } from "../terminal/index.ts";

/** What the overview shows of a command. */
export interface Described {
  /** In yargs syntax: `conform [suites..]`. */
  readonly command: string;
  readonly describe: string;
}

/** The commands by purpose. A command that is in no group would be missing: a test compares this with the commands. */
const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Test a gateway", ["run", "conform", "rejudge", "report", "show-report"]],
  ["Load and limits", ["load", "merge", "limits", "capacity", "size", "overhead"]],
  ["Compare and gate", ["compare", "baseline", "history", "waivers", "verify-claim", "matrix"]],
  ["Set up", ["init", "doctor", "checks", "explain", "completion"]],
  ["Tools", ["gateway", "upstream", "client", "calibrate", "k6", "k8s"]],
];

const EXAMPLES: readonly (readonly [line: string, what: string])[] = [
  ["gauntlet init", "write a target file for your gateway"],
  ["gauntlet doctor", "check the setup"],
  ["gauntlet conform --target gauntlet.yaml", "test the gateway"],
];

const nameOf = ({ command }: Described): string => command.split(" ")[0] ?? "";

/** `gauntlet --help`: every command, by groups. */
export function overview(commands: readonly Described[], columns: number): string {
  const width = Math.max(...commands.map(({ command }) => command.length)) + 2;
  const indent = " ".repeat(width + 2);
  const line = (head: string, text: string) =>
    wrap(`  ${head.padEnd(width)}${text}`.replace(/ {2,}/g, keep), columns, indent);
  const groups = GROUPS.map(([title, names]) => {
    const own = names.flatMap((name) => commands.filter((command) => nameOf(command) === name));
    return [title, ...own.map(({ command, describe }) => line(command, describe))].join("\n");
  });
  const examples = ["Examples", ...EXAMPLES.map(([example, what]) => `  ${example.padEnd(42)}# ${what}`)];
  return [
    "gauntlet <command>",
    "Load testing and conformance for model gateways.",
    ...groups.map((group) => group.replaceAll(KEPT, " ")),
    examples.join("\n"),
    "Exit codes: 0 passed, 1 failed, 2 usage or configuration, 3 target unreachable, 4 inconclusive, 5 error in your suite, or an internal error.",
    "`gauntlet <command> --help` shows a command's options and examples; `gauntlet --version` prints the version.",
    `Documentation: ${docsAddress("guide.md") ?? `docs/guide.md in the ${NAME} package`}`,
  ]
    .join("\n\n")
    .concat("\n");
}

/** Non-breaking spaces, which wrapping must not treat as word breaks. */
const KEPT = "\u00a0";
const keep = (blanks: string): string => `${KEPT.repeat(blanks.length - 1)} `;

/** Commands that are in no group, and group entries that are not commands. */
export function ungrouped(commands: readonly Described[]): string[] {
  const grouped = GROUPS.flatMap(([, names]) => names);
  const names = commands.map(nameOf);
  return [...names.filter((name) => !grouped.includes(name)), ...grouped.filter((name) => !names.includes(name))];
}
