import { type CheckResult, type RunRecord, type Status, worstStatus } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { COLUMNS, type CoveredRequirement, coverageOf, sideOf } from "../../coverage.ts";
import { SIGNS, TONES } from "../../status-style.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, duration, enumerate, plural } from "../format.ts";
import { DataTable, Heading, numbers, Prose, Section, Sentence, StatusMark } from "../parts.tsx";
import { NotRun, Silent, Uncovered, UncoveredOfClient } from "./not-judged.tsx";

const LAYERS = {
  specification: "The specification",
  protocol: "Underlying standards",
  compat: "What real clients need",
  custom: "Custom requirements (not counted)",
} as const;

/** Which requirements were judged, where, and with what result. */
export function CoverageSection({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const requirements = coverageOf(record);
  const side = sideOf(record);
  const ours = requirements.filter(({ requirement: { binds, layer } }) => binds === side && layer !== "custom");
  const custom = requirements.filter(({ requirement }) => requirement.layer === "custom");
  const silent = ours.filter(({ requirement, observed }) => requirement.level === "OPEN" && observed.length > 0);
  const uncovered = ours.filter(({ status }) => status === undefined);
  const judged = ours.filter(({ status }) => status !== undefined && JUDGED.includes(status));
  const broken = ours.filter(({ status }) => status === "fail" || status === "flaky");
  const warned = ours.filter(({ status }) => status === "warn");
  const count = (some: readonly unknown[]) => `${some.length === 0 ? "none" : decimal(some.length)}`;
  const finding = `${decimal(judged.length)} of ${plural(ours.length, `${side} requirement`)} were judged; of the MUSTs, ${count(broken)} ${broken.length < 2 ? "is" : "are"} violated${
    warned.length === 0 ? "" : `; of the SHOULDs, ${count(warned)}`
  }.`;
  return (
    <Section id="coverage" title="Coverage" finding={finding}>
      {(["specification", "protocol", "compat", "custom"] as const).map((layer) => (
        <Layer
          key={layer}
          layer={layer}
          requirements={[...ours, ...custom].filter(({ requirement }) => requirement.layer === layer)}
          anchors={anchors}
        />
      ))}
      <Silent requirements={silent} />
      {side === "gateway" ? (
        <Uncovered requirements={uncovered} all={requirements} />
      ) : (
        <UncoveredOfClient requirements={uncovered} />
      )}
      <NotRun record={record} />
      <AllChecks checks={record.checks} anchors={anchors} />
    </Section>
  );
}

const JUDGED: readonly Status[] = ["pass", "warn", "fail", "flaky", "observed"];
const QUIET: readonly Status[] = ["pass", "observed", "not-applicable"];

interface LayerProps {
  readonly layer: keyof typeof LAYERS;
  readonly requirements: readonly CoveredRequirement[];
  readonly anchors: Anchors;
}

function Layer({ layer, requirements, anchors }: LayerProps) {
  if (requirements.length === 0) return null;
  const areas = [...new Set(requirements.map(({ requirement }) => requirement.area))];
  const isOpen = requirements.some(({ status }) => status !== undefined && !QUIET.includes(status));
  const inside = (area: string) => requirements.filter(({ requirement }) => requirement.area === area);
  const isJudged = (area: string) => inside(area).some(({ status }) => status !== undefined);
  const judged = areas.filter(isJudged);
  const others = areas.filter((area) => !isJudged(area));
  const areaOf = (area: string) => <Area key={area} area={area} requirements={inside(area)} anchors={anchors} />;
  return (
    <details class="layer on-paper" id={`layer-${layer}`} open={isOpen}>
      <summary>
        <strong>{LAYERS[layer]}</strong> <span class="tally">{tallyOf(requirements)}</span>
      </summary>
      <div class="areas">
        {judged.map(areaOf)}
        {others.length === 0 ? null : (
          <details class="not-judged">
            <summary>
              {plural(others.length, "area")} without a judged requirement: {enumerate(others, 12)}{" "}
              <span class="tally">{plural(others.flatMap(inside).length, "requirement")}</span>
            </summary>
            {others.map(areaOf)}
          </details>
        )}
      </div>
    </details>
  );
}

/** `12 pass, 1 not judged`: what was judged first. */
function tallyOf(requirements: readonly CoveredRequirement[]): string {
  const tally = new Map<string, number>();
  for (const { status } of requirements)
    tally.set(status ?? "not judged", (tally.get(status ?? "not judged") ?? 0) + 1);
  const isNot = (status: string) => Number(status === "not judged");
  return [...tally]
    .sort(([a], [b]) => isNot(a) - isNot(b))
    .map(([status, count]) => `${decimal(count)} ${status}`)
    .join(", ");
}

interface AreaProps {
  readonly area: string;
  readonly requirements: readonly CoveredRequirement[];
  readonly anchors: Anchors;
}

/** One area of requirements: its status in one line, its matrix inside. */
function Area({ area, requirements, anchors }: AreaProps) {
  const columns = COLUMNS.filter((column) => requirements.some(({ cells }) => cells[column] !== undefined));
  return (
    <details class="area">
      <summary>
        <span class="area-name">{area}</span>
        <span class="pips" aria-hidden="true">
          {requirements.map(({ requirement, status }) => (
            <i
              key={requirement.id}
              class={`pip ${status === undefined ? "none" : TONES[status]} is-${status ?? "none"}`}
            />
          ))}
        </span>
        <span class="tally">{tallyOf(requirements)}</span>
      </summary>
      <DataTable
        caption={`Requirements of the area ${area} by dialect and mode`}
        quietCaption
        head={[
          "Requirement",
          "Level",
          ...columns.map((column) => ({ value: <ColumnHead column={column} /> })),
          "Statement",
        ]}
        rows={requirements.map(({ requirement, cells, excluded, status }) => [
          <a
            key="requirement"
            id={anchors.of("requirement", requirement.id)}
            class="requirement-id"
            href={`#${anchors.of("requirement", requirement.id)}`}
          >
            {requirement.id}
          </a>,
          <span key="level" class={`level ${requirement.level.toLowerCase()}`}>
            {requirement.level}
          </span>,
          ...columns.map((column) => <MatrixCell key={column} cell={cells[column]} />),
          <span key="text" class="statement">
            <Prose text={requirement.text} />
            {status === undefined && excluded !== undefined ? <em> Not judged: {excluded}.</em> : null}
          </span>,
        ])}
      />
    </details>
  );
}

/** Dialect above mode, which leaves more room for the statement. */
function ColumnHead({ column }: { readonly column: string }) {
  const [dialect, mode] = column.split(" ");
  return (
    <span class="split">
      {dialect}
      {mode === undefined ? null : <small>{mode}</small>}
    </span>
  );
}

function MatrixCell({ cell }: { readonly cell: { readonly status: Status; readonly instances: number } | undefined }) {
  if (cell === undefined) return <span class="unseen">not judged here</span>;
  return (
    <span class={`mark ${TONES[cell.status]}`} title={`${cell.status}, ${plural(cell.instances, "instance")}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[cell.status]}
      </span>
      <span class="unseen">{cell.status}, </span>
      {cell.instances > 1 ? <span class="times">{decimal(cell.instances)}</span> : null}
    </span>
  );
}

/** Above this many, passed checks are omitted from the list: the record has everything. */
const MAX_LISTED = 5_000;

function AllChecks({ checks, anchors }: { readonly checks: readonly CheckResult[]; readonly anchors: Anchors }) {
  const listed = checks.length > MAX_LISTED ? checks.filter(({ status }) => status !== "pass") : checks;
  const suites = [...new Set(listed.map(({ suite }) => suite))];
  return (
    <>
      <Heading id="checks" title="Every check" />
      {listed.length < checks.length ? (
        <p>
          {plural(checks.length - listed.length, "passing check instance")} not listed, for size. The run record has
          them.
        </p>
      ) : null}
      <details id="check-list">
        <summary>
          {plural(listed.length, "check instance")} of {plural(suites.length, "suite")}
        </summary>
        <div class="areas">
          {suites.map((suite) => {
            const inside = listed.filter((check) => check.suite === suite);
            return (
              <details class="area" key={suite}>
                <summary>
                  <span class="area-name">{suite}</span>
                  <StatusMark status={worstStatus(inside.map(({ status }) => status))} />
                  <span class="tally">{plural(inside.length, "check instance")}</span>
                </summary>
                <DataTable
                  caption={`Checks of the suite ${suite}`}
                  quietCaption
                  head={["Check", "Status", "Result", ...numbers("Time")]}
                  rows={inside.map((check) => [
                    <code key="id" id={anchors.of("check", check.id)}>
                      {oneLine(check.id, 200)}
                    </code>,
                    <StatusMark key="status" status={check.status} />,
                    <Sentence key="message" text={oneLine(check.message, check.status === "pass" ? 90 : 400)} />,
                    check.durationMs === 0 ? "–" : duration(check.durationMs),
                  ])}
                />
              </details>
            );
          })}
        </div>
      </details>
    </>
  );
}
