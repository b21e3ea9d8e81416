import { differenceText, promptText } from "../../../reports/figures/overhead-figures.ts";
import { suiteOf } from "../../../src/checks/index.ts";
import type { AddedDifference, OverheadLevel, RunRecord } from "../../../src/record/index.ts";
import type { InFront } from "./in-front.ts";

interface Measured {
  /** Record of the measurement. */
  readonly overhead: RunRecord;
  /** Records of the suite `upstream`. */
  readonly suites: ReadonlyMap<InFront, RunRecord>;
  readonly machine: string;
  /** Day, YYYY-MM-DD. */
  readonly measuredOn: string;
}

/** The page with the measurements: docs/internal/overhead-measured.md. */
export function measuredPage({ overhead: { overhead, verdict }, suites, machine, measuredOn }: Measured): string {
  if (overhead === undefined) throw new Error("the record has no overhead");
  const { arms, control, ceilingPerS, rounds } = overhead;
  const tables = arms.map(({ name, version, levels, frontier, diagnoses = [] }) => {
    const bounds = (frontier?.bounds ?? []).map(
      ({ addedP99Ms, requestsPerS, isPassed }) =>
        `${addedP99Ms} ms: ${requestsPerS === null ? "below the lowest rate" : `${isPassed ? "" : "at least "}${requestsPerS}/s`}`,
    );
    return `### ${version === undefined ? name : `${name} ${version}`}

| clients | request | prompt | added p50, ms | added p99, ms | added TTFT p50, ms | requests/s | |
|---:|---|---:|---:|---:|---:|---:|---|
${levels.map(rowOf).join("\n")}

Highest rate of small requests before the added p99 passes a bound: ${bounds.join(", ")}.
${diagnoses.map((text) => `\n- ${text}`).join("")}`;
  });
  return `# Overhead, measured

Written by \`npm run verify overhead -- --write\`; [what the figures are](../overhead.md). Measured on ${measuredOn} on one machine (${machine}),
which client, gateway and upstream shared: the figures compare these gateways with each other under that condition, and say little
about another machine. ${rounds} rounds; every figure is followed by its 95 % interval.

Directly, the upstream served up to ${ceilingPerS} requests/s. Direct against direct: ${control.message}
Verdict: ${verdict.result}.

${tables.join("\n\n")}

u: upstream-bound; h: all arms were held at the same rate.

## What they do towards their providers

The suite [\`upstream\`](../upstream.md#judge-a-gateway-from-this-side), each gateway with two providers, of which the second is called when
the first one fails.

| gateway | ${STATUSES.join(" | ")} |
|---|${STATUSES.map(() => "---:").join("|")}|
${[...suites].map(([{ title }, record]) => `| ${title} | ${STATUSES.map((status) => countOf(record, status)).join(" | ")} |`).join("\n")}

${[...suites].map(([{ title }, record]) => findingsOf(title, record)).join("\n\n")}
`;
}

const STATUSES = ["pass", "fail", "warn", "inconclusive", "not-applicable"] as const;

const ofSuite = ({ checks }: RunRecord) => checks.filter(({ id }) => suiteOf(id) === "upstream");

const countOf = (record: RunRecord, status: string) => ofSuite(record).filter((one) => one.status === status).length;

/** The few deviations behind the failures and warnings, each with the checks that show it. */
function findingsOf(title: string, { causes }: RunRecord): string {
  if (causes.length === 0) return `**${title}**: nothing failed or warned.`;
  const rows = causes.map(({ title: what, requirement, weight, checks }) => {
    const shown = checks.map((id) => `\`${id}\``).join(", ");
    return `| ${inCell(what)} | \`${requirement}\` | ${weight === "fail" ? "failure" : "warning"} | ${shown} |`;
  });
  return [`**${title}**`, "", "| cause | requirement | as | checks |", "|---|---|---|---|", ...rows].join("\n");
}

const inCell = (text: string) => text.replace(/\s+/g, " ").replace(/[|<>]/g, "\\$&").slice(0, 240);

function rowOf({
  concurrency,
  stream,
  promptBytes,
  addedMs,
  addedTtftMs,
  requestsPerS,
  upstreamBound,
  heldAtPerS,
}: OverheadLevel) {
  const marks = [...(upstreamBound ? ["u"] : []), ...(heldAtPerS === null ? [] : ["h"])].join(" ");
  const kind = stream ? "streaming" : "non-streaming";
  const rate = requestsPerS.toFixed(requestsPerS < 100 ? 1 : 0);
  const cells = [
    concurrency,
    kind,
    promptText(promptBytes),
    intervalText(addedMs.p50),
    intervalText(addedMs.p99),
    intervalText(addedTtftMs?.p50),
    rate,
    marks,
  ];
  return `| ${cells.join(" | ")} |`;
}

function intervalText(difference: AddedDifference | undefined): string {
  if (difference === undefined || difference.value === null) return "";
  const { value, low, high } = difference;
  const interval = low === null || high === null ? "" : ` (${differenceText(low)} to ${differenceText(high)})`;
  return `${differenceText(value)}${interval}`;
}
