import { jsonDocument, renderRun } from "../../../reports/index.ts";
import { type ClientRun, runClient, SCENARIOS, type Scenario, scenarioNotRun } from "../../client-conformance/index.ts";
import { didYouMean, EXIT, UsageError } from "../../core/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import type { Outcome, RunControl } from "../../run/control/index.ts";
import { journalStart } from "../../run/journal/index.ts";
import { openFolder } from "../../run/open/index.ts";
import { composeRecord, keepRecord } from "../../run/record/index.ts";
import { parseTarget, type Target } from "../../target/index.ts";

export interface ClientOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Names; empty for all. */
  readonly scenarios: readonly string[];
  readonly list: boolean;
  readonly out?: string | undefined;
  readonly timeoutS: number;
  readonly mostAttempts: number;
  readonly jobs: number;
}

/** Runs a client's command through scripted scenarios and writes the run folder. */
export async function client(options: ClientOptions, { interruption, onProgress }: RunControl): Promise<Outcome> {
  const scenarios = selectScenarios(options.scenarios);
  if (options.list) return list(scenarios);
  const command = commandOf(options);
  const startedAt = new Date();
  const target = describe(command, scenarios, options.mostAttempts);
  using folder = openFolder(options.out, startedAt, target, interruption);
  const redactor = new Redactor(secretsOf(process.env));
  const start = { command: "client", target, seed: 0, startedAt };
  journalStart(folder, start, redactor, { checks: scenarios.map(scenarioNotRun) });
  const total = scenarios.length;
  onProgress({ kind: "checks", done: 0, total, what: "", unit: "scenario" });
  const ours = new Set<string>();
  let done = 0;
  const { results, requests } = await runClient({
    command,
    environment: process.env,
    scenarios,
    jobs: options.jobs,
    limitMs: options.timeoutS * 1_000,
    mostAttempts: options.mostAttempts,
    signal: interruption.signal,
    onKey: (key) => {
      ours.add(key);
      redactor.add({ name: "key.valid", value: key });
    },
    onStart: ({ name }) => folder.journal({ event: "check-started", check: `client.${name}` }),
    onResult: (result, runs, evidence) => {
      for (const value of foreignCredentials(runs, ours)) redactor.add({ name: "credential", value });
      for (const line of evidence) folder.exchange(redactor.redactValue(line));
      // Through JSON, as it will be read: fields without a value are dropped.
      folder.recording(result.id, JSON.parse(JSON.stringify(redactor.redactValue(runs))));
      const { id, status } = result;
      folder.journal(redactor.redactValue({ event: "check-finished", check: id, status, result }));
      onProgress({ kind: "checks", done: ++done, total, what: id, unit: "scenario" });
    },
  });
  const found = composeRecord({
    ...start,
    results,
    requests,
    interruptedBy: interruption.by(),
    cutOff: folder.ioError?.message,
    redactor,
    binds: "client",
    qualifiers: scenarios.length === SCENARIOS.length ? [] : [`${scenarios.length} of ${SCENARIOS.length} scenarios`],
  });
  const { record, isKept, ioError } = await keepRecord(folder, found, { interruption });
  return {
    exitCode: record.verdict.exitCode,
    document: jsonDocument(record, folder.path),
    text: (colors) => renderRun(record, { colors, evidence: () => undefined, folder: folder.path, isKept }),
    ioError,
  };
}

/** The command to run. @throws UsageError when it is missing, or an option is out of range. */
function commandOf({ command, timeoutS, mostAttempts, jobs }: ClientOptions): readonly [string, ...string[]] {
  const [program, ...args] = command;
  if (program === undefined) {
    throw new UsageError("no command to run was given", {
      hint: "Write it after --, as in a shell: gauntlet client -- node app.js",
    });
  }
  assertWithin("--timeout", timeoutS, 1, 3_600);
  assertWithin("--most-attempts", mostAttempts, 2, 1_000);
  assertWithin("--jobs", jobs, 1, 64);
  return [program, ...args];
}

/** @throws UsageError for an unknown name: it would silently select nothing, and a run of nothing looks green. */
function selectScenarios(names: readonly string[]): readonly Scenario[] {
  const known = SCENARIOS.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    throw new UsageError(`unknown scenario "${name}"`, {
      hint: `${didYouMean(name, known)}\`gauntlet client --list-scenarios\` lists all.`,
    });
  }
  return names.length === 0 ? SCENARIOS : SCENARIOS.filter(({ name }) => names.includes(name));
}

function list(scenarios: readonly Scenario[]): Outcome {
  const shown = scenarios.map(({ name, title, requirements }) => ({ name, title, requirements }));
  const width = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(
    ({ name, title, requirements }) => `${name.padEnd(width)}  ${title} [${requirements.join(" ")}]\n`,
  );
  return { exitCode: EXIT.pass, document: shown, text: () => lines.join("") };
}

/** The client as named in the record. Each scenario has its own gateway, on a free port. */
function describe(command: readonly string[], scenarios: readonly Scenario[], mostAttempts: number): Target {
  const text = JSON.stringify({
    baseUrl: "http://127.0.0.1/v1",
    name: command.join(" ").slice(0, 80),
    keys: { valid: "env:GAUNTLET_API_KEY" },
  });
  const target = parseTarget(text, "client", { GAUNTLET_API_KEY: "made for each scenario" });
  return {
    ...target,
    source: "client",
    configuration: {
      command,
      scenarios: scenarios.map(({ name }) => name),
      mostAttempts,
      keys: { valid: "env:GAUNTLET_API_KEY" },
    },
  };
}

/** Shorter values are not keys, and occur in ordinary words. */
const MIN_SECRET_CHARACTERS = 8;
/** Matches values that may be keys, whatever their name. */
const LIKE_A_KEY = /^(?=.*\d)(?=.*[a-z])[^\s/\\:]{20,}$/i;

/** Values of the environment that a command may print and that must not reach a record: the operator's own keys. */
function secretsOf(environment: NodeJS.ProcessEnv): { readonly name: string; readonly value: string }[] {
  return Object.entries(environment).flatMap(([name, value = ""]) =>
    (/KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) && value.length >= MIN_SECRET_CHARACTERS) ||
    LIKE_A_KEY.test(value)
      ? [{ name: `env.${name}`, value }]
      : [],
  );
}

/** Credentials that a command sent but no scenario gave it, such as the operator's own key in another header. */
function foreignCredentials(runs: readonly ClientRun[], ours: ReadonlySet<string>): string[] {
  const fields = runs
    .flatMap(({ attempts, others }) => [...attempts, ...others])
    .flatMap(({ request }) => request.headers)
    .filter(([name]) => /^((proxy-)?authorization|(x-)?api-key|cookie)$/i.test(name));
  return fields
    .map(([, value]) => value.split(/\s+/).at(-1) ?? "")
    .filter((value) => value.length >= MIN_SECRET_CHARACTERS && ![...ours].some((key) => value.includes(key)));
}

function assertWithin(option: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max && (option === "--timeout" || Number.isInteger(value))) return;
  throw new UsageError(`${option}: ${value} is not a number from ${min} to ${max}`);
}
