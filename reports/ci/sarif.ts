import { createHash } from "node:crypto";
import type { Log, ReportingDescriptor, Result } from "sarif";
import { docsAddress } from "../../src/core/index.ts";
import type { RunRecord, Status } from "../../src/record/index.ts";
import { isRequirementId } from "../../src/requirements/index.ts";
import { oneLine } from "../clean-text.ts";
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
 * The run as SARIF for static analysis viewers. Each result needs a location: the target file, the only file of the user's
 * repository that a finding can be about.
 */
export function renderSarif(record: RunRecord): string {
  const outcomes = outcomesOf(record)
    .filter(({ status }) => LEVELS[status] !== undefined)
    .slice(0, MAX_RESULTS);
  const rules = new Map<string, ReportingDescriptor>();
  for (const outcome of outcomes) {
    const id = ruleOf(outcome);
    if (!rules.has(id)) {
      const helpUri = docsAddress(pageOf(outcome, id));
      rules.set(id, {
        id,
        ...(helpUri === undefined ? {} : { helpUri }),
        shortDescription: { text: oneLine(outcome.title) },
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
  const lines = [outcome.message, ...outcome.detail].map((line) => oneLine(line, 400));
  return {
    ruleId: ruleOf(outcome),
    level: LEVELS[outcome.status] ?? "note",
    message: { text: `${oneLine(outcome.id)}: ${[...new Set(lines)].slice(0, 10).join("\n")}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: fileOf(record) },
          region: { startLine: 1 },
        },
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

/** The page that explains a rule: that of the check, or of what a gate, a load or a suite of the target's owner is. */
function pageOf({ suite, layer, requirements }: Outcome, id: string): string {
  if (layer === "policy") return "ci.md#policy";
  if (suite === "load") return "metrics.md";
  if (!requirements.some((requirement) => isRequirementId(requirement))) return "own-suites.md";
  return `checks.md#${id.toLowerCase().replace(/[^a-z0-9_-]/g, "")}`;
}

/** A relative path: hosts reject paths that leave the repository. */
function fileOf({ target }: RunRecord): string {
  if (target.source === "embedded") return "gauntlet.yaml";
  const parts = target.source.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== "..");
  const inside = target.source.startsWith("/") ? parts.slice(-1) : parts;
  return inside.map((part) => encodeURIComponent(oneLine(part))).join("/") || "gauntlet.yaml";
}
