import { relative } from "node:path/posix";

/** A folder below `src`, or next to it, with what it may import. The linter's rules and the diagram are generated from this. */
export interface Module {
  readonly holds: string;
  /** Modules whose public API (`index.ts`) it may import. */
  readonly imports: readonly string[];
}

/** Modules of `src`, the lowest first. */
export const MODULES: Readonly<Record<string, Module>> = {
  core: { holds: "clock, errors, exit codes, randomness, statistics, JSON helpers", imports: [] },
  budget: {
    holds: "how many requests and tokens a command may still use; created only in `run/control`",
    imports: ["core"],
  },
  dialects: {
    holds: "requests, replies, event streams, error bodies, Retry-After; pure",
    imports: ["core", "requirements"],
  },
  requirements: { holds: "requirements and the denial table as data", imports: ["core"] },
  metrics: { holds: "histograms, counters, merging", imports: ["core"] },
  "http/recorder": { holds: "one exchange, timed, recorded, redacted", imports: ["core", "dialects"] },
  "http/load-client": {
    holds: "the sockets and the parser of the load engine",
    imports: ["core", "dialects", "http/recorder", "metrics"],
  },
  upstream: {
    holds: "simulated providers that respond as a scenario defines, and record every request",
    imports: ["core"],
  },
  target: {
    holds: "target file, keys by reference, fixtures, provisioning",
    imports: ["core", "dialects", "http/recorder", "requirements", "upstream"],
  },
  record: { holds: "run record, journal, evidence store", imports: ["core", "metrics"] },
  claims: {
    holds: "claims as documents: schema, reading, what changed between two versions of a gateway; pure",
    imports: ["core", "record", "requirements"],
  },
  judging: {
    holds: "observations, expectations, findings, verdicts; pure",
    imports: ["core", "dialects", "record", "reports/text", "requirements"],
  },
  limits: {
    holds: "what rate and concurrency limits do: folds and inference over observations; pure",
    imports: ["core", "judging", "requirements"],
  },
  checks: {
    holds: "declaring, planning and running conformance checks",
    imports: [
      "budget",
      "core",
      "dialects",
      "http/recorder",
      "judging",
      "limits",
      "record",
      "reports/text",
      "requirements",
      "target",
    ],
  },
  policy: {
    holds: "thresholds, baselines, verdict, exit code",
    imports: ["core", "judging", "metrics", "record", "reports/text", "requirements"],
  },
  load: {
    holds: "schedules, senders, events, measurement, tier phases, capacity, sizing",
    imports: [
      "budget",
      "core",
      "dialects",
      "http/load-client",
      "http/recorder",
      "judging",
      "limits",
      "metrics",
      "policy",
      "record",
      "reports/text",
      "requirements",
      "target",
    ],
  },
  engines: {
    holds: "adapters to k6 and autocannon",
    imports: ["core", "judging", "metrics", "record", "target"],
  },
  compare: {
    holds: "two builds to a judgement: paired statistics, drift",
    imports: ["core", "record", "reports/text"],
  },
  overhead: {
    holds: "what gateways add to the latency of their upstream: rounds, intervals, a control",
    imports: ["core", "dialects", "load", "record"],
  },
  "reference-gateway": { holds: "a gateway in its own right, its mutations and valid variants", imports: ["core"] },
  history: {
    holds: "runs kept in one SQLite file, trends of their metrics, change points",
    imports: ["core", "policy", "record", "reference-gateway"],
  },
  "client-conformance": {
    holds: "scripted gateways, and judging the client program that meets them",
    imports: ["core", "dialects", "judging", "record", "reference-gateway", "reports/text", "requirements"],
  },
  "telemetry/live": {
    holds: "the live page, OTLP and Prometheus: a load while it runs",
    imports: ["core", "http/recorder", "load", "metrics", "record", "reports", "target"],
  },
  "telemetry/watch": {
    holds: "the target's processes and metrics during a load",
    imports: ["core", "http/recorder", "load", "record"],
  },
  "run/control": {
    holds: "permission to send (authorization, plan, budget); interruption, progress events, outcome",
    imports: ["budget", "checks", "core", "load", "target"],
  },
  "run/open": {
    holds: "resolves what a command names: target, build, workload, folder, latest run",
    imports: ["core", "load", "record", "run/control", "target"],
  },
  "run/preflight": {
    holds: "whether a gateway responds, which models it serves, and advice",
    imports: ["checks", "core", "dialects", "load", "run/control", "target"],
  },
  "run/suites": {
    holds: "the suites of a run: built-in, your own, declared in the target file",
    imports: ["checks", "core", "suites", "target"],
  },
  "run/journal": {
    holds: "the head of a record, and the start of a journal",
    imports: ["checks", "core", "http/recorder", "record", "requirements", "target"],
  },
  "run/loads": {
    holds: "runs loads with any engine, also as one shard of several, and keeps their evidence",
    imports: ["core", "dialects", "engines", "http/recorder", "load", "metrics", "record", "run/control", "target"],
  },
  "run/record": {
    holds: "composes, stores, recovers and renders the record of a run",
    imports: [
      "checks",
      "core",
      "http/recorder",
      "judging",
      "policy",
      "record",
      "reports",
      "requirements",
      "run/control",
      "run/journal",
      "target",
    ],
  },
  "run/judge": {
    holds: "judges finished loads, and a record by its policy",
    imports: [
      "checks",
      "core",
      "http/recorder",
      "load",
      "policy",
      "record",
      "reports",
      "requirements",
      "run/control",
      "run/loads",
      "run/record",
      "suites",
      "target",
    ],
  },
  "run/claims": {
    holds: "claims: the profiles that a stored run meets, computed from its files",
    imports: [
      "checks",
      "claims",
      "core",
      "policy",
      "record",
      "reports",
      "requirements",
      "run/journal",
      "run/judge",
      "run/record",
      "suites",
    ],
  },
  "run/conformance": {
    holds: "a run of checks, with the loads of tiers and policies: `conform` and `run`",
    imports: [
      "checks",
      "core",
      "http/recorder",
      "judging",
      "limits",
      "load",
      "policy",
      "record",
      "reports",
      "requirements",
      "run/control",
      "run/journal",
      "run/judge",
      "run/loads",
      "run/open",
      "run/preflight",
      "run/record",
      "run/suites",
      "target",
    ],
  },
  propose: {
    holds: "proposes a target file from the responses of a gateway",
    imports: [
      "checks",
      "core",
      "dialects",
      "judging",
      "requirements",
      "run/control",
      "run/preflight",
      "suites",
      "target",
    ],
  },
  terminal: {
    holds: "defining and printing a command: options, progress, interruption, output",
    imports: ["core", "run/control"],
  },
  commands: {
    holds: "one folder per command: options.ts, run.ts, text.ts; commands do not import each other",
    imports: [
      "checks",
      "claims",
      "client-conformance",
      "compare",
      "core",
      "dialects",
      "engines",
      "history",
      "http/recorder",
      "judging",
      "load",
      "metrics",
      "overhead",
      "policy",
      "propose",
      "record",
      "reference-gateway",
      "reports",
      // Apart from the other reports, because it loads the schemas of claims.
      "reports/matrix",
      "requirements",
      "run/claims",
      "run/conformance",
      "run/control",
      "run/journal",
      "run/judge",
      "run/loads",
      "run/open",
      "run/preflight",
      "run/record",
      "run/suites",
      "suites",
      "target",
      "telemetry/live",
      "telemetry/watch",
      "terminal",
      "upstream",
    ],
  },
  cli: {
    holds: "the command line: parsing, overview, usage messages, crashes",
    imports: ["commands", "core", "run/journal", "terminal"],
  },
};

/** Folders next to `src`, with the modules that they may import. */
export const FOLDERS_NEXT_TO_SRC: Readonly<Record<string, Module>> = {
  suites: {
    holds: "the checks, one idea per file",
    imports: ["checks", "core", "dialects", "judging", "limits", "requirements", "target"],
  },
  reports: {
    holds: "HTML, JUnit, SARIF, terminal and others",
    // The history of runs and the matrix of claims are rendered as well, and no single record contains them.
    // A comment on a pull request has the verdicts of a comparison.
    imports: ["claims", "compare", "core", "history", "metrics", "record", "reports/text", "requirements"],
  },
  "reports/text": {
    holds: "every sentence about a finding, a reason, a cause or a verdict; judges write them into the record",
    imports: ["core", "record"],
  },
};

const ALL: Readonly<Record<string, Module>> = { ...MODULES, ...FOLDERS_NEXT_TO_SRC };

/** Its folder, relative to the root of the repository. */
export const folderOf = (name: string): string => (name in MODULES ? `src/${name}` : name);

/** Levels of folders below a module. What a path leads to depends on how deep its file is. */
export const DEPTHS: readonly number[] = [0, 1, 2, 3];

/** The linter's rules: what each module may not import. Where two match a file, the later one counts. */
export function lintRules(): string {
  const schema = "../../node_modules/@biomejs/biome/configuration_schema.json";
  const rules = Object.keys(ALL).flatMap((name) => DEPTHS.map((depth) => JSON.stringify(rulesAt(name, depth))));
  return `{"$schema":"${schema}","overrides":[\n${rules.join(",\n")}\n]}\n`;
}

/** The rule for the files of a module that are this many folders below it. */
function rulesAt(name: string, depth: number): object {
  const imports = ALL[name]?.imports ?? [];
  const pathTo = (other: string) => {
    const path = relative(`${folderOf(name)}${"/x".repeat(depth)}`, folderOf(other));
    return path.startsWith(".") ? path : `./${path}`;
  };
  // Commands do not import each other: what two of them share belongs in `src/run` or in a domain module.
  const own = name === "commands" && depth > 0 ? depth : depth + 1;
  const nested = Object.keys(ALL).filter((other) => folderOf(other).startsWith(`${folderOf(name)}/`));
  const group = [
    `${"../".repeat(own)}**`,
    ...nested.map((other) => `${pathTo(other)}/**`),
    ...imports.map((other) => `!${pathTo(other)}/index.ts`),
  ];
  const message = `${folderOf(name)} may import ${imports.map((other) => `${other}/index.ts`).join(", ") || "nothing of ours"} (scripts/modules.ts).`;
  const options = { patterns: [{ group, message }] };
  return {
    includes: [`${folderOf(name)}/${"*/".repeat(depth)}*.{ts,tsx}`],
    linter: { rules: { style: { noRestrictedImports: { level: "error", options } } } },
  };
}

/** The table as a diagram: an arrow is omitted if a longer path implies it. */
export function moduleDiagram(): string {
  const reaches = (from: string, to: string): boolean =>
    (ALL[from]?.imports ?? []).some((next) => next === to || reaches(next, to));
  const arrows = Object.entries(ALL).flatMap(([name, { imports }]) => {
    const direct = imports.filter(
      (to) => to !== "core" && to in ALL && !imports.some((other) => other !== to && reaches(other, to)),
    );
    return direct.map((to) => `  ${idOf(name)} --> ${idOf(to)}`);
  });
  const boxes = Object.entries(ALL)
    .filter(([name]) => name !== "core")
    .map(([name, { holds }]) => `  ${idOf(name)}["${name}: ${holds}"]`);
  return ["```mermaid", "flowchart TB", ...boxes, "", ...arrows, "```"].join("\n");
}

/** A slash is not allowed in a diagram's ids. */
const idOf = (name: string): string => name.replace("/", "-");
