/** A folder below `src`, or next to it, with what it may import. The linter's rules and the diagram are generated from this. */
export interface Module {
  readonly holds: string;
  /** Modules whose public API (`index.ts`) it may import. */
  readonly imports: readonly string[];
}

/** Modules of `src`, the lowest first. */
export const MODULES: Readonly<Record<string, Module>> = {
  core: { holds: "clock, errors, exit codes, randomness, statistics, JSON helpers", imports: [] },
  budget: { holds: "how many requests and tokens a command may still use; created only in `run`", imports: ["core"] },
  dialects: { holds: "requests, replies, event streams, error bodies, Retry-After; pure", imports: ["core"] },
  requirements: { holds: "requirements and the denial table as data", imports: ["core"] },
  metrics: { holds: "histograms, counters, merging", imports: ["core"] },
  "http-recorder": { holds: "one exchange, timed, recorded, redacted", imports: ["core", "dialects"] },
  upstream: {
    holds: "simulated providers that respond as a scenario defines, and record every request",
    imports: ["core"],
  },
  target: {
    holds: "target file, keys by reference, fixtures, provisioning",
    imports: ["core", "dialects", "http-recorder", "requirements", "upstream"],
  },
  record: { holds: "run record, journal, evidence store", imports: ["core", "metrics"] },
  judging: {
    holds: "observations, expectations, findings, verdicts; pure",
    imports: ["core", "dialects", "record", "requirements"],
  },
  limits: {
    holds: "what rate and concurrency limits do: folds and inference over observations; pure",
    imports: ["core", "dialects", "judging", "metrics", "requirements"],
  },
  checks: {
    holds: "declaring, planning and running conformance checks",
    imports: ["budget", "core", "dialects", "http-recorder", "judging", "limits", "record", "requirements", "target"],
  },
  policy: {
    holds: "thresholds, baselines, verdict, exit code",
    imports: ["core", "judging", "record", "requirements"],
  },
  load: {
    holds: "schedules, senders, measurement, tier phases, capacity, sizing",
    imports: [
      "budget",
      "core",
      "dialects",
      "http-recorder",
      "judging",
      "limits",
      "metrics",
      "policy",
      "record",
      "requirements",
      "target",
    ],
  },
  engines: {
    holds: "adapters to k6 and autocannon",
    imports: ["core", "dialects", "judging", "metrics", "record", "target"],
  },
  compare: { holds: "two builds to a judgement: paired statistics, drift", imports: ["core", "metrics", "record"] },
  overhead: {
    holds: "what gateways add to the latency of their upstream: rounds, intervals, a control",
    imports: ["core", "load", "record"],
  },
  "reference-gateway": {
    holds: "a gateway in its own right, its mutations and valid variants",
    imports: ["core"],
  },
  history: {
    holds: "runs kept in one SQLite file, trends of their metrics, change points",
    imports: ["core", "compare", "policy", "record", "reference-gateway"],
  },
  "client-conformance": {
    holds: "scripted gateways, and judging the client program that meets them",
    imports: ["core", "dialects", "judging", "record", "reference-gateway", "requirements"],
  },
  run: {
    holds: "shared by every command that sends: the permit, with authorization, plan and budget",
    imports: ["budget", "checks", "core", "load", "target"],
  },
  app: {
    holds: "use cases: run, conform, load, compare and the others; evidence, recovery",
    imports: [
      "core",
      "dialects",
      "metrics",
      "requirements",
      "http-recorder",
      "target",
      "record",
      "judging",
      "limits",
      "checks",
      "load",
      "run",
      "engines",
      "compare",
      "overhead",
      "policy",
      "history",
      "reference-gateway",
      "upstream",
      "client-conformance",
    ],
  },
  cli: { holds: "one file per command: options, a use case of app, printing", imports: ["app", "core"] },
};

/** Folders next to `src`, with the modules of `src` that they may import. */
export const FOLDERS_NEXT_TO_SRC: Readonly<Record<string, Module>> = {
  suites: {
    holds: "the checks, one idea per file",
    imports: ["core", "dialects", "requirements", "target", "record", "judging", "limits", "checks"],
  },
  reports: {
    holds: "HTML, JUnit, SARIF, terminal and others",
    // The history of runs is rendered as well, and no single record contains it.
    imports: ["core", "history", "metrics", "record", "requirements"],
  },
  "reports/text": {
    holds: "every sentence about a finding, a reason, a cause or a verdict",
    imports: ["core", "record", "requirements"],
  },
};

/** The sentences of all reports, which judges use for the messages of the record. */
const TEXT = "reports/text";
const IMPORT_TEXT: readonly string[] = ["judging", "checks", "load", "client-conformance", "compare", "policy"];

/** Modules that may import the folders next to `src`. */
const MAY_IMPORT_FOLDERS: readonly string[] = ["app"];

/** The linter's rules: what each module may not import. */
export function lintRules(): object {
  const ofModules = Object.entries(MODULES).map(([name, { imports }]) => {
    const forbidden = Object.keys(MODULES).filter((other) => other !== name && !imports.includes(other));
    const group = [
      ...forbidden.flatMap((other) => [`../${other}/**`, `../../${other}/**`, `../../../${other}/**`]),
      ...(MAY_IMPORT_FOLDERS.includes(name) ? [] : Object.keys(FOLDERS_NEXT_TO_SRC).map((folder) => `**/${folder}/**`)),
      ...(IMPORT_TEXT.includes(name) ? [`!**/${TEXT}/index.ts`] : []),
    ];
    const inside = imports.flatMap((other) =>
      ["..", "../..", "../../.."].flatMap((up) => [`${up}/${other}/**`, `!${up}/${other}/index.ts`]),
    );
    return restricted(`src/${name}/**`, [
      { group, message: `src/${name} may import ${listed(imports)} (scripts/modules.ts).` },
      { group: inside, message: "A module has one public API: import its index.ts." },
    ]);
  });
  const ofFolders = Object.entries(FOLDERS_NEXT_TO_SRC).map(([folder, { imports }]) =>
    restricted(`${folder}/**`, [
      {
        group: Object.keys(MODULES).flatMap((other) => (imports.includes(other) ? [] : [`**/src/${other}/**`])),
        message: `${folder} may import ${listed(imports)} of src (scripts/modules.ts).`,
      },
      {
        group: imports.flatMap((other) => [`**/src/${other}/**`, `!**/src/${other}/index.ts`]),
        message: "A module has one public API: import its index.ts.",
      },
    ]),
  );
  return {
    $schema: "../../node_modules/@biomejs/biome/configuration_schema.json",
    overrides: [...ofModules, ...ofFolders],
  };
}

const listed = (imports: readonly string[]): string => (imports.length === 0 ? "nothing of ours" : imports.join(", "));

function restricted(includes: string, patterns: readonly { readonly group: readonly string[]; message: string }[]) {
  const options = { patterns: patterns.filter(({ group }) => group.length > 0) };
  return { includes: [includes], linter: { rules: { style: { noRestrictedImports: { level: "error", options } } } } };
}

/** The table as a diagram: an arrow is omitted if a longer path implies it. */
export function moduleDiagram(): string {
  const all = { ...MODULES, ...FOLDERS_NEXT_TO_SRC };
  const reaches = (from: string, to: string): boolean =>
    (all[from]?.imports ?? []).some((next) => next === to || reaches(next, to));
  const arrows = Object.entries(all).flatMap(([name, { imports }]) => {
    const direct = imports.filter(
      (to) => to !== "core" && !imports.some((other) => other !== to && reaches(other, to)),
    );
    return direct.map((to) => `  ${idOf(name)} --> ${to}`);
  });
  const boxes = Object.entries(all)
    .filter(([name]) => name !== "core")
    .map(([name, { holds }]) => `  ${idOf(name)}["${name}: ${holds}"]`);
  const topmost = [
    ...MAY_IMPORT_FOLDERS.flatMap((name) =>
      Object.keys(FOLDERS_NEXT_TO_SRC).map((folder) => `  ${name} --> ${idOf(folder)}`),
    ),
    ...["reports", ...IMPORT_TEXT].map((name) => `  ${name} --> ${idOf(TEXT)}`),
  ];
  return ["```mermaid", "flowchart TB", ...boxes, "", ...arrows, ...topmost, "```"].join("\n");
}

/** A slash is not allowed in a diagram's ids. */
const idOf = (name: string): string => name.replace("/", "-");
