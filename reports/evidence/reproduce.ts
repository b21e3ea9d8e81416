import type { CheckResult, RunRecord } from "../../src/record/index.ts";
import { shellWord } from "./shell.ts";

/** The command that repeats a check, or the load run that a finding comes from. */
export function rerunOf(record: RunRecord, id: string): string {
  if (record.command === "client") return clientAgain(record, id);
  const load = (record.load?.runs ?? []).find(({ name }) => id === `load.${name}` || id.startsWith(`load.${name}.`));
  const what = load === undefined ? ["conform", "--only", shellWord(id)] : ["load", shellWord(load.name)];
  const target = record.target.source === "embedded" ? [] : ["--target", shellWord(record.target.source)];
  return ["gauntlet", ...what, ...target, ...embeddedSwitches(record), "--seed", String(record.seed)].join(" ");
}

/** The command that explains a check; a load check is explained by its requirement, and without one by nothing. */
export function explainOf({ check, suite, violated, requirements }: CheckResult): string | undefined {
  const id = suite === "load" ? (violated[0] ?? requirements[0]) : check;
  return id === undefined ? undefined : `gauntlet explain ${shellWord(id)}`;
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
