import junit, { type TestCase } from "junit-report-builder";
import type { RunRecord } from "../../src/record/index.ts";
import { passage } from "../clean-text.ts";
import { rerunOf } from "../evidence/reproduce.ts";
import { type Outcome, outcomesOf } from "../outcomes.ts";

/** The package exports the builder itself, but its types declare it under `default`. */
const builder = junit as unknown as typeof junit.default;

/** Longest text of one element, UTF-16 units: readers load JUnit files completely into memory. */
const LONGEST = 8_000;

/**
 * The run for JUnit XML readers. Undecided checks are skipped, with the reason. The verdict is a separate test case, so that a
 * run without failures that did not pass is not shown as green.
 */
export function renderJunit(record: RunRecord): string {
  const report = builder.newBuilder().name(clean(record.target.name));
  const outcomes = outcomesOf(record);
  const verdict = report
    .testSuite()
    .name("verdict")
    .timestamp(record.startedAt)
    .time(record.durationMs / 1_000);
  for (const [name, value] of propertiesOf(record)) verdict.property(name, clean(value));
  const decided = verdict.testCase().className("gauntlet").name("verdict").time(0);
  if (record.verdict.result !== "pass") {
    const why = record.verdict.reasons.map(({ text, check }) => (check === undefined ? text : `${check}: ${text}`));
    if (record.verdict.result === "fail") {
      decided.failure(clean(record.verdict.headline), "fail");
      decided.stacktrace(clean(why.join("\n")));
    } else decided.error(clean(record.verdict.headline), record.verdict.result, clean(why.join("\n")));
  }
  for (const suite of [...new Set(outcomes.map((outcome) => outcome.suite))]) {
    const inside = outcomes.filter((outcome) => outcome.suite === suite);
    const node = report
      .testSuite()
      .name(clean(suite))
      .timestamp(record.startedAt)
      .time(secondsOf(inside.reduce((sum, { durationMs }) => sum + durationMs, 0)));
    for (const outcome of inside) addCase(node.testCase(), outcome, record);
  }
  return `${report.build()}\n`;
}

/** With three decimals. */
const secondsOf = (ms: number): number => Math.round(ms) / 1_000;

function addCase(node: TestCase, outcome: Outcome, record: RunRecord): void {
  node.className(clean(outcome.suite)).name(clean(outcome.id)).time(secondsOf(outcome.durationMs));
  node.property("title", clean(outcome.title)).property("status", outcome.status).property("layer", outcome.layer);
  if (outcome.requirements.length > 0) node.property("requirements", outcome.requirements.join(" "));
  const { message } = outcome;
  // The detail line of a single finding repeats the message after the name of the finding.
  const detail = outcome.detail.filter((line) => !line.endsWith(`: ${message}`));
  const text = clean([message, ...detail, `reproduce: ${rerunOf(record, outcome.id)}`].join("\n"));
  const uncounted = outcome.waived ?? outcome.notRequired;
  if (uncounted !== undefined) {
    skipped(node, uncounted).standardOutput(clean(`${uncounted}\n${text}`));
    return;
  }
  switch (outcome.status) {
    case "fail":
    case "flaky":
      node.failure(clean(outcome.message), outcome.status);
      node.stacktrace(text);
      break;
    case "harness-error":
      node.error(clean(outcome.message), "harness-error", text);
      break;
    case "blocked":
    case "inconclusive":
    case "not-applicable":
      // Some readers show the message of the element, others only the output.
      skipped(node, `${outcome.status}: ${outcome.message}`).standardOutput(
        clean([`${outcome.status}: ${outcome.message}`, ...outcome.detail].join("\n")),
      );
      break;
    case "warn":
      node.standardOutput(text);
      break;
    case "pass":
    case "observed":
      break;
  }
}

/** Marks a case as skipped, with the reason as its message, which the builder has no parameter for. */
function skipped(node: TestCase, reason: string): TestCase {
  const build = node.build.bind(node);
  node.build = (parent) => {
    const element = build(parent);
    const [mark] = element.children.filter((child) => "name" in child && child.name === "skipped");
    (mark as typeof element | undefined)?.att("message", clean(reason));
    return element;
  };
  return node.skipped();
}

function propertiesOf(record: RunRecord): [string, string][] {
  return [
    ["runId", record.runId],
    ["target", record.target.baseUrl],
    ["build", record.target.build ?? "not stated by the gateway"],
    ["harness", `${record.harness.name} ${record.harness.version}`],
    ["configuration.sha256", record.configuration.sha256],
    ["seed", String(record.seed)],
    ["exitCode", String(record.verdict.exitCode)],
  ];
}

/**
 * XML allows neither control characters nor lone surrogates, escaped or not; and no text may look like the end of a CDATA
 * section.
 */
function clean(text: string): string {
  return passage(text, LONGEST).replaceAll("]]>", "]] >");
}
