import { createHash } from "node:crypto";
import type { Log, ReportingDescriptor, Result } from "sarif";
import { docsAddress } from "../../src/core/index.ts";
import type { RunRecord, Status } from "../../src/record/index.ts";
import { isRequirementId } from "../../src/requirements/index.ts";
import { oneLine } from "../clean-text.ts";
import { explainOf } from "../evidence/reproduce.ts";
import { code, inline } from "../markdown-text.ts";
import { type Outcome, outcomesOf } from "../outcomes.ts";

const LEVELS: Readonly<Partial<Record<Status, Result["level"]>>> = {
  "harness-error": "error",
  fail: "error",
  flaky: "error",
  inconclusive: "warning",
  warn: "warning",
};

/** Viewers show at most this many. */
const MAX_RESULTS = 5_000;

/**
 * The run as SARIF for static analysis viewers. A result is located at the target file, if the run had one: no other file of the
 * user's repository can be the subject of a finding.
 */
export function renderSarif(record: RunRecord): string {
  const outcomes = outcomesOf(record)
    .filter(({ status }) => LEVELS[status] !== undefined)
    .slice(0, MAX_RESULTS);
  const rules = new Map<string, ReportingDescriptor>();
  for (const outcome of outcomes) {
    const id = ruleOf(outcome);
    if (!rules.has(id)) {
      const page = pageOf(outcome, id);
      const helpUri = docsAddress(page);
      rules.set(id, {
        id,
        ...(helpUri === undefined ? {} : { helpUri }),
        shortDescription: { text: oneLine(outcome.title) },
        help: helpOf(record, outcome, page),
        properties: { tags: [outcome.layer, ...outcome.requirements] },
      });
    }
  }
  const log: Log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name: record.harness.name, semanticVersion: record.harness.version, rules: [...rules.values()] },
        },
        automationDetails: { id: `gauntlet/${oneLine(record.target.name)}/` },
        invocations: [
          {
            executionSuccessful: record.verdict.result !== "error",
            exitCode: record.verdict.exitCode,
            startTimeUtc: record.startedAt,
            endTimeUtc: record.endedAt,
          },
        ],
        columnKind: "utf16CodeUnits",
        results: outcomes.map((outcome) => resultOf(outcome, record)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 1)}\n`;
}

function resultOf(outcome: Outcome, record: RunRecord): Result {
  const uncounted = outcome.waived ?? outcome.notRequired;
  const file = fileOf(record);
  const lines = [outcome.message, ...outcome.detail].map((line) => oneLine(line, 400));
  return {
    ruleId: ruleOf(outcome),
    level: LEVELS[outcome.status] ?? "note",
    message: { text: `${oneLine(outcome.id)}: ${[...new Set(lines)].slice(0, 10).join("\n")}` },
    locations: [
      {
        ...(file === undefined
          ? {}
          : { physicalLocation: { artifactLocation: { uri: file }, region: { startLine: 1 } } }),
        logicalLocations: [{ fullyQualifiedName: oneLine(outcome.id), kind: "member" }],
      },
    ],
    partialFingerprints: {
      "gauntletCheck/v1": createHash("sha256")
        .update(`${outcome.id} ${outcome.violated.join(" ")}`)
        .digest("hex"),
    },
    ...(uncounted === undefined ? {} : { suppressions: [{ kind: "external", justification: oneLine(uncounted) }] }),
    properties: { status: outcome.status, requirements: [...outcome.requirements] },
  };
}

function ruleOf({ id }: Outcome): string {
  return oneLine(id.replace(/\[.*$/s, ""));
}

/** The documentation page for a rule: that of the check, or the page about gates, loads or custom suites. */
function pageOf({ suite, layer, requirements }: Outcome, id: string): string {
  if (layer === "policy") return "ci.md#policy";
  if (suite === "load") return "metrics.md";
  if (!requirements.some((requirement) => isRequirementId(requirement))) return "own-suites.md";
  return `checks.md#${id.toLowerCase().replace(/[^a-z0-9_-]/g, "")}`;
}

/** Help text of a rule, as plain text and as Markdown: requirement and source, advice, documentation. */
function helpOf(record: RunRecord, outcome: Outcome, page: string): ReportingDescriptor["help"] {
  const rule = ruleOf(outcome);
  const required = record.requirements.filter(({ id }) => outcome.requirements.includes(id));
  const advice = record.causes.find(({ checks }) => checks.includes(outcome.id))?.advice;
  const explain = outcome.layer === "policy" ? undefined : explainOf({ ...outcome, check: rule }, record);
  const parts = (write: (text: string) => string, asCode: (text: string) => string): string[] => [
    ...required.map(
      ({ id, level, source, text }) => `${write(`${id} (${level}): ${text}`)} ${write(`Source: ${source}.`)}`,
    ),
    ...(advice === undefined ? [] : [write(`What to do: ${advice}`)]),
    ...(explain === undefined ? [] : [`Explanation: ${asCode(explain)}`]),
    `Documentation: ${asCode(`docs/${page}`)} (in the ${asCode(record.harness.name)} package).`,
  ];
  const plain = (text: string) => oneLine(text, MAX_HELP_CHARACTERS);
  return { text: parts(plain, plain).join("\n"), markdown: parts(inline, code).join("\n\n") };
}

const MAX_HELP_CHARACTERS = 600;

/** Sources of targets that are not files: the embedded gateway, and the targets of `client` and `overhead`. */
const NON_FILE_SOURCES: readonly string[] = ["embedded", "client", "--upstream"];

/**
 * A relative path: hosts reject paths that leave the repository.
 *
 * @returns `undefined` if the run had no target file.
 */
function fileOf({ target }: RunRecord): string | undefined {
  if (NON_FILE_SOURCES.includes(target.source)) return undefined;
  const parts = target.source.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== "..");
  const inside = target.source.startsWith("/") ? parts.slice(-1) : parts;
  return inside.map((part) => encodeURIComponent(oneLine(part))).join("/") || "gauntlet.yaml";
}
