import type { ComponentChildren } from "preact";
import type { AddedDifference, Overhead, OverheadLevel } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { differenceText, promptText } from "../figures/overhead-figures.ts";
import { plural } from "../html/format.ts";
import { type Cell, DataTable, ResultMark, Section } from "../html/parts.tsx";
import { claimId } from "./evidence-section.tsx";
import { gatewayName, type MatrixClaim, type OverheadRecord, type Shown, shortVersion } from "./matrix-source.ts";

type Arm = Overhead["arms"][number];

/** One column: which level of an arm, and which of its figures. */
interface Column {
  readonly concurrency: number;
  readonly promptBytes: number;
  readonly stream: boolean;
  readonly what: string;
  readonly of: (level: OverheadLevel) => AddedDifference | undefined;
}

/** What each gateway adds to the latency of its upstream: measured separately, and part of no profile. */
export function OverheadSection({ claims, anchors, record }: Shown & { readonly record: OverheadRecord | undefined }) {
  if (record === undefined) {
    return (
      <Section
        id="overhead"
        title="Overhead"
        finding="No measurement was given (--overhead). Overhead is not part of any profile."
      >
        {null}
      </Section>
    );
  }
  const { overhead, verdict, startedAt, environment } = record;
  const columns = columnsOf(overhead);
  return (
    <Section
      id="overhead"
      title="Overhead"
      finding="Latency that a gateway adds to its upstream, in milliseconds, with 95 % intervals. Overhead is not part of any profile: no result above depends on it."
    >
      <p class="note">
        Measured on {startedAt.slice(0, 10)} in {plural(overhead.rounds, "round")}, on one machine with{" "}
        {plural(environment.cpus, "core")}: the figures compare these gateways with each other, and say little about
        another machine. The configurations are those of the measurement, not those of the claims.{" "}
        {oneLine(overhead.control.message, 300)}
      </p>
      {verdict.result === "pass" ? null : (
        <p class="note">
          The measurement itself: {verdict.result}. {verdict.reasons.map(({ text }) => oneLine(text, 300)).join(" ")}
        </p>
      )}
      <DataTable
        caption="Added latency in milliseconds, with 95 % intervals"
        quietCaption
        matrix
        head={["Gateway", ...columns.map(headOf)]}
        rows={claims.map((claim) => [
          <>
            <a href={`#${claimId(anchors, claim)}`}>{gatewayName(claim)}</a>
            <span class="because">{shortVersion(claim.claim)}</span>
          </>,
          ...cellsOf(claim, overhead, columns),
        ])}
      />
    </Section>
  );
}

/** The smallest prompt, with the fewest and the most clients that every arm has. */
function columnsOf({ arms }: Overhead): Column[] {
  const levels = arms.flatMap((arm) => arm.levels);
  const promptBytes = Math.min(...levels.map((level) => level.promptBytes));
  const counts = levels.filter((level) => level.promptBytes === promptBytes).map(({ concurrency }) => concurrency);
  return [...new Set([Math.min(...counts), Math.max(...counts)])].flatMap((concurrency): Column[] => [
    { concurrency, promptBytes, stream: false, what: "response, p50", of: ({ addedMs }) => addedMs.p50 },
    { concurrency, promptBytes, stream: false, what: "response, p99", of: ({ addedMs }) => addedMs.p99 },
    { concurrency, promptBytes, stream: true, what: "first token, p50", of: ({ addedTtftMs }) => addedTtftMs?.p50 },
  ]);
}

function headOf({ what, concurrency, promptBytes, stream }: Column): Cell {
  return {
    value: (
      <>
        {what}
        <small>
          {stream ? "streaming" : "non-streaming"}, {plural(concurrency, "client")}, {promptText(promptBytes)}
        </small>
      </>
    ),
  };
}

function cellsOf(claim: MatrixClaim, { arms }: Overhead, columns: readonly Column[]): ComponentChildren[] {
  const { name, version } = claim.claim.gateway;
  const named = arms.filter((one) => one.name === name);
  const arm = named.find((one) => one.version === undefined || one.version === version);
  if (arm !== undefined) return columns.map((column) => figureOf(arm, column));
  const [other] = named;
  const why =
    other === undefined
      ? "not in this measurement"
      : `measured with version ${oneLine(other.version ?? "not stated", 60)}`;
  return columns.map(() => <Empty why={why} />);
}

function figureOf(arm: Arm, { concurrency, promptBytes, stream, of }: Column): ComponentChildren {
  const level = arm.levels.find(
    (one) => one.concurrency === concurrency && one.promptBytes === promptBytes && one.stream === stream,
  );
  if (level === undefined) return <Empty why="not measured" />;
  const { value = null, low = null, high = null } = of(level) ?? {};
  if (value === null || low === null || high === null) return <Empty why="too few requests were served" />;
  const notes = [
    ...(level.upstreamBound ? ["the upstream is the limit"] : []),
    ...(arm.version === undefined ? ["version not stated"] : []),
  ];
  return (
    <>
      {differenceText(value)}
      <span class="because">
        {differenceText(low)} to {differenceText(high)}
        {notes.map((note) => `; ${note}`)}
      </span>
    </>
  );
}

function Empty({ why }: { readonly why: string }) {
  return (
    <>
      <ResultMark sign="–" tone="quiet" word="no figure" />
      <span class="because">{why}</span>
    </>
  );
}
