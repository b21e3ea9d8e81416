import type { CheckResult, RunRecord } from "../../src/record/index.ts";
import { gateId } from "../outcomes.ts";
import { shellWord } from "./shell.ts";

/** The command that repeats a check, or the load run that a finding comes from; for a gate of the policy, the whole run. */
export function rerunOf(record: RunRecord, id: string): string {
  if (commandOf(record) === "client") return clientAgain(record, id);
  if (record.policy?.gates.some(({ gate }) => id === gateId(gate)) === true) return rerunAllOf(record);
  const runs = record.load?.runs ?? [];
  const load = runs.findIndex(({ name }) => id === `load.${name}` || id.startsWith(`load.${name}.`));
  const what = load < 0 ? ["conform", "--only", id, ...suiteFiles(record)] : ["load", ...loadWords(record, load)];
  return ["gauntlet", ...what.map(shellWord), ...onTarget(record)].join(" ");
}

/** The command line that produced this report. */
export function commandLineOf(record: RunRecord): string {
  const { comparison, overhead, seed } = record;
  if (comparison?.kind === "stored")
    return [
      "gauntlet compare",
      ...[comparison.a, comparison.b].map(({ name, folder = name }) => shellWord(folder)),
      ...(comparison.noiseFactor === undefined ? [] : ["--noise-factor", String(comparison.noiseFactor)]),
    ].join(" ");
  if (overhead !== undefined)
    return ["gauntlet overhead", ...overhead.arguments.map(shellWord), "--seed", String(seed)].join(" ");
  return rerunAllOf(record);
}

/** The command that repeats the run; for a comparison of two stored runs, the second of them. */
export function rerunAllOf(record: RunRecord): string {
  // The arguments of a live comparison already name its targets.
  if (record.comparison?.kind === "live")
    return ["gauntlet compare", ...(record.arguments ?? []).map(shellWord), "--seed", String(record.seed)].join(" ");
  return ["gauntlet", commandOf(record), ...(record.arguments ?? []).map(shellWord), ...onTarget(record)].join(" ");
}

/** The command that sent the requests. The record of a stored comparison is that of its second run. */
function commandOf({ command, comparison }: RunRecord): string {
  return comparison?.kind === "stored" ? (comparison.b.command ?? command) : command;
}

function onTarget(record: RunRecord): string[] {
  return ["--target", shellWord(record.target.source), ...embeddedSwitches(record), "--seed", String(record.seed)];
}

/** The files of custom suites, which define checks. */
function suiteFiles({ arguments: words = [] }: Pick<RunRecord, "arguments">): string[] {
  return words.flatMap((word, index) => (word === "--suite" ? [word, words[index + 1] ?? ""] : []));
}

/** A load as given on the command line, which may be a file, and the options of its command. */
function loadWords(record: RunRecord, index: number): readonly string[] {
  const { arguments: words = [], load } = record;
  const runs = load?.runs ?? [];
  const firstOption = words.findIndex((word) => word.startsWith("--"));
  const named = firstOption < 0 ? words : words.slice(0, firstOption);
  // A load of `run` comes from its policy, and is known by its name only.
  if (commandOf(record) !== "load" || named.length !== runs.length) return [runs[index]?.name ?? ""];
  return [named[index] ?? "", ...words.slice(named.length)];
}

/** The command that explains a check; a load check is explained by its requirement, and without one by nothing. */
export function explainOf(
  {
    check,
    suite,
    violated,
    requirements,
  }: Readonly<Pick<CheckResult, "check" | "suite">> & {
    readonly violated: readonly string[];
    readonly requirements: readonly string[];
  },
  record: Pick<RunRecord, "arguments">,
): string | undefined {
  const id = suite === "load" ? (violated[0] ?? requirements[0]) : check;
  return id === undefined ? undefined : ["gauntlet explain", ...[id, ...suiteFiles(record)].map(shellWord)].join(" ");
}

/** The command that repeats the scenario. */
function clientAgain(record: RunRecord, id: string): string {
  const configuration = record.configuration.value;
  const { command } = (typeof configuration === "object" ? (configuration ?? {}) : {}) as Record<string, unknown>;
  const words = Array.isArray(command) ? command.map((word) => shellWord(String(word))) : ["COMMAND"];
  return ["gauntlet client --scenario", shellWord(id.replace(/^client\./, "")), "--", ...words].join(" ");
}

/** Mutations and variants of the embedded gateway, without which the run would not be reproduced. */
export function embeddedSwitches(record: RunRecord): string[] {
  const configuration = record.configuration.value;
  if (record.target.source !== "embedded" || typeof configuration !== "object" || configuration === null) return [];
  const named = configuration as Record<string, unknown>;
  const list = (name: string, option: string) => {
    const values = named[name];
    return Array.isArray(values) ? values.flatMap((value) => [option, shellWord(String(value))]) : [];
  };
  const replicas = typeof named["replicas"] === "number" ? ["--replicas", String(named["replicas"])] : [];
  return [...list("mutations", "--mutation"), ...list("variants", "--variant"), ...replicas];
}
