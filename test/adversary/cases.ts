import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckResult, RunRecord } from "../../src/record/index.ts";
import { filesBelow, tracesOf } from "../support/canary.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { recordProblems } from "../support/record-schema.ts";
import { searchable } from "../support/run-files.ts";
import { adversary } from "./adversary.ts";
import type { Behaviour } from "./behaviour.ts";
import { BODIES } from "./behaviours/bodies.ts";
import { CONTENTS } from "./behaviours/contents.ts";
import { ENDINGS } from "./behaviours/endings.ts";
import { HEADS } from "./behaviours/heads.ts";
import { REDIRECTS } from "./behaviours/redirects.ts";
import { type Watched, watched } from "./watched.ts";

export const BEHAVIOURS: readonly Behaviour[] = [...HEADS, ...ENDINGS, ...BODIES, ...CONTENTS, ...REDIRECTS];

/**
 * Limits that hold whatever the gateway does, measured from outside the process; the times are for a machine with a load of ten
 * times its CPUs. `stopMs` is from SIGTERM to the exit.
 */
export const BOUNDS = { seconds: 300, peakMib: 350, filesMib: 64, stopMs: 3_000 } as const;

export interface Command {
  readonly name: string;
  readonly args: readonly string[];
  /** Whether the model list behaves like the rest. */
  readonly everywhere: boolean;
  /** It writes a run folder. */
  readonly keeps: boolean;
  /** It judges a gateway, and may not pass a broken one; `doctor` only reports whether a run can begin. */
  readonly judges: boolean;
  /** How the gateway's address is passed. */
  readonly target: readonly string[];
}

const WORKLOAD = `name: small
arrivals: { kind: constant, ratePerS: 20, durationS: 1 }
mix:
  - { dialect: chat }
  - { dialect: messages }
  - { dialect: chat, stream: true }
retryAfter: compliant
maxInFlight: 16
`;
const TARGET = ["--target", "gauntlet.yaml"] as const;
const K6 = process.env["K6_PATH"];
const CLOSED = `name: closed
engine: autocannon
arrivals: { kind: closed, inFlight: 2, durationS: 1 }
mix: [{ dialect: chat }]
`;

/** Checks for every kind of request; more of them would only repeat these. */
const CHECKS = [
  "models.list",
  "chat.minimal",
  "messages.minimal",
  "streaming.ends",
  "errors.success-is-a-reply",
  "security.no-key-in-answers",
];

export const COMMANDS = {
  conform: {
    name: "conform",
    args: ["conform", ...CHECKS.flatMap((id) => ["--only", id])],
    everywhere: false,
    keeps: true,
    judges: true,
    target: TARGET,
  },
  load: { name: "load", args: ["load", "small.yaml"], everywhere: false, keeps: true, judges: true, target: TARGET },
  doctor: { name: "doctor", args: ["doctor"], everywhere: true, keeps: false, judges: false, target: TARGET },
  preflight: {
    name: "preflight",
    args: ["conform", "--only", "models.list"],
    everywhere: true,
    keeps: true,
    judges: true,
    target: TARGET,
  },
  limits: {
    name: "limits",
    args: ["limits", "--budget-requests", "30", "--minutes", "0.05"],
    everywhere: false,
    keeps: false,
    judges: true,
    target: TARGET,
  },
  capacity: {
    name: "capacity",
    args: ["capacity", "--objective", "failed < 1%", "--from", "5", "--to", "20", "--step-s", "1", "--minutes", "0.05"],
    everywhere: false,
    keeps: false,
    judges: true,
    target: TARGET,
  },
  closed: {
    name: "closed",
    args: ["load", "closed.yaml"],
    everywhere: false,
    keeps: true,
    judges: true,
    target: TARGET,
  },
  /** All checks. */
  whole: { name: "whole", args: ["conform"], everywhere: false, keeps: true, judges: true, target: TARGET },
  quick: { name: "quick", args: ["run", "--quick"], everywhere: false, keeps: true, judges: true, target: TARGET },
  /** A build that is hostile to itself. */
  compare: {
    name: "compare",
    args: ["compare", "--pairs", "10", "--block-s", "0.3", "--rate", "10", "--suites", "models"],
    everywhere: false,
    keeps: true,
    judges: true,
    target: ["gauntlet.yaml", "gauntlet.yaml"],
  },
  /** If there is a k6. */
  k6: {
    name: "k6",
    args: ["load", "small.yaml", "--engine", "k6"],
    everywhere: false,
    keeps: true,
    judges: true,
    target: TARGET,
  },
} as const satisfies Record<string, Command>;

/** Commands with little separate code get one behaviour of each kind. */
const ONE_OF_EACH =
  /^(head\.(endless-fields|never)|reset\.inside-chunk|body\.endless-by-chunks|bomb\.brotli|json\.a-million-lists|wait\.a-century|redirect\.307|key\.as-reason|refuse\.401|address\.nothing)/;
const MINOR: readonly Command[] = [
  COMMANDS.limits,
  COMMANDS.capacity,
  COMMANDS.closed,
  COMMANDS.compare,
  ...(K6 === undefined ? [] : [COMMANDS.k6]),
];

/** Commands that take turns: if one of them survives a behaviour, the same code reads it in the others. */
const IN_TURNS: readonly Command[] = [COMMANDS.load, COMMANDS.doctor, COMMANDS.preflight];

/** @param all every behaviour against every main command; otherwise against conformance and one of the others. */
export function chosenCases(all: boolean): [Behaviour, Command][] {
  return BEHAVIOURS.flatMap((behaviour, index) => {
    const turns = all ? IN_TURNS : IN_TURNS.filter((_command, turn) => index % IN_TURNS.length === turn);
    const commands = [COMMANDS.conform, ...turns, ...(ONE_OF_EACH.test(behaviour.name) ? MINOR : [])];
    return commands.map((command): [Behaviour, Command] => [behaviour, command]);
  });
}

/** Every behaviour against whole runs. */
export function wholeCases(): [Behaviour, Command][] {
  return BEHAVIOURS.flatMap((behaviour) =>
    [COMMANDS.whole, COMMANDS.quick, COMMANDS.load].map((command): [Behaviour, Command] => [behaviour, command]),
  );
}

export interface CaseResult {
  readonly behaviour: string;
  readonly command: string;
  readonly ran: Watched;
  /** What was not as required; empty: it survived. */
  readonly complaints: readonly string[];
}

const KEY = "ck-adversary-5f0c7d21be9a4433Zq9-canary";
/** Exit codes of the table in docs/guide.md that a run against a broken gateway may have. */
const WITHOUT_PASS = [1, 3, 4];
/** A server without any response that only a gateway would send is not a gateway: the target file is wrong. */
const NO_GATEWAY = 2;

/**
 * Runs one command against one behaviour and returns what was not as required.
 *
 * @param stopAfterMs when SIGTERM is sent; default never.
 */
export async function runCase(behaviour: Behaviour, command: Command, stopAfterMs?: number): Promise<CaseResult> {
  using folder = temporaryFolder();
  await using hostile = await adversary(behaviour, command.everywhere);
  writeFileSync(
    join(folder.path, "gauntlet.yaml"),
    `baseUrl: ${hostile.baseUrl}
keys: { valid: env:CANARY }
${command.everywhere ? "" : "models: { chat: plain }\n"}timeouts: { responseS: 1.5, idleS: 1 }
limits: { rpm: 6000, inFlight: 64 }
authorized: true
`,
  );
  writeFileSync(join(folder.path, "small.yaml"), WORKLOAD);
  writeFileSync(join(folder.path, "closed.yaml"), CLOSED);
  const out = join(folder.path, "run");
  const args = [...command.args, ...command.target, ...(command.keeps ? ["--out", out] : [])];
  const environment = { CANARY: KEY, ...(K6 === undefined ? {} : { K6_PATH: K6 }) };
  const ran = await watched(args, environment, folder.path, { boundS: BOUNDS.seconds, stopAfterMs });
  const isStopped = ran.stopMs !== undefined;
  const complaints = [
    ...bounded(ran),
    ...tooLarge(out),
    ...(isStopped ? [] : ended(ran, behaviour, command)),
    ...(command.keeps && !isStopped ? kept(out, ran, behaviour.harmless === true) : []),
    ...leaks([ran.stdout, ran.stderr]),
    ...filesBelow(folder.path).flatMap((path) => leaks(partsOf(path))),
    ...(hostile.trapped.length === 0 ? [] : [`another host got a request: ${hostile.trapped[0]?.slice(0, 60)}`]),
  ];
  return { behaviour: behaviour.name, command: command.name, ran, complaints };
}

function tooLarge(folder: string): string[] {
  const bytes = existsSync(folder) ? filesBelow(folder).reduce((sum, path) => sum + statSync(path).size, 0) : 0;
  const mib = bytes / 1024 / 1024;
  return mib > BOUNDS.filesMib ? [`its files take ${Math.round(mib)} MiB`] : [];
}

function bounded({ overTime, peakMib, seconds, stopMs, stdout }: Watched): string[] {
  return [
    ...((stopMs ?? 0) > BOUNDS.stopMs ? [`it ended ${Math.round(stopMs ?? 0)} ms after SIGTERM`] : []),
    ...(hasControls(stdout) ? ["control characters on stdout"] : []),
    ...(overTime ? [`it still ran after ${Math.round(seconds)} s`] : []),
    ...((peakMib ?? 0) > BOUNDS.peakMib ? [`it took ${Math.round(peakMib ?? 0)} MiB`] : []),
  ];
}

function ended(
  { code, signal, stderr, overTime }: Watched,
  { harmless, unreachable, rejectsKey }: Behaviour,
  { everywhere, judges }: Command,
): string[] {
  if (overTime) return [];
  const allowed =
    unreachable === true && everywhere
      ? [3]
      : [
          ...WITHOUT_PASS,
          ...(everywhere || rejectsKey === true ? [NO_GATEWAY] : []),
          ...(harmless === true || !judges ? [0] : []),
        ];
  return [
    ...(signal === null ? [] : [`it was ended by ${signal}`]),
    ...(code !== null && allowed.includes(code) ? [] : [`exit code ${code}: ${stderr.slice(-300)}`]),
    ...(/internal error|\n\s+at |Warning:|UnhandledPromise/.test(stderr) ? [`stderr: ${stderr.slice(0, 300)}`] : []),
    ...(hasControls(stderr) ? ["control characters on stderr"] : []),
  ];
}

/** A gateway's escape sequences must not reach a terminal. */
function hasControls(text: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(text);
}

function kept(out: string, { code, stdout, overTime }: Watched, mayPass: boolean): string[] {
  if (overTime) return [];
  // Nothing was reached: there is nothing to record beyond the journal.
  if ((code === 3 || code === NO_GATEWAY) && !existsSync(join(out, "run.json"))) return [];
  if (!existsSync(join(out, "run.json"))) return ["the record is missing"];
  const record: RunRecord = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
  const errors = record.checks.filter(({ status }: CheckResult) => status === "harness-error");
  return [
    ...recordProblems(out).slice(0, 3),
    ...(record.verdict.exitCode === code
      ? []
      : [`the record says exit code ${record.verdict.exitCode}, it was ${code}`]),
    ...(!mayPass && record.verdict.result === "pass" ? ["the verdict is pass"] : []),
    ...(record.verdict.reasons.length > 0 || record.verdict.result === "pass" ? [] : ["the verdict has no reason"]),
    ...errors.slice(0, 3).map(({ id, message }) => `harness-error of ${id}: ${message}`),
    ...(stdout.includes(record.verdict.result.toUpperCase()) ? [] : ["the verdict is not printed"]),
  ];
}

/** Parts of a file that overlap by more than a key: a file of all exchanges may exceed the maximum length of a string. */
function partsOf(path: string): string[] {
  const bytes = searchable(path);
  const count = Math.max(1, Math.ceil(bytes.length / PART));
  return Array.from({ length: count }, (_, at) => bytes.toString("latin1", at * PART, (at + 1) * PART + OVERLAP));
}

const PART = 64 * 1024 * 1024;
const OVERLAP = 200;

function leaks(texts: readonly string[]): string[] {
  const traces = tracesOf(KEY).filter((trace) => texts.some((text) => text.includes(trace)));
  return traces.length === 0 ? [] : [`the key is shown: ${traces.length} traces`];
}
