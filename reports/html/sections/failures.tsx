import type { CheckResult, RunRecord } from "../../../src/record/index.ts";
import { oneLine, shorten, visible } from "../../clean-text.ts";
import { controlOf } from "../../control-request.ts";
import { sideOf } from "../../coverage.ts";
import { curlLine, keyVariables } from "../../curl.ts";
import { type Evidence, outcomeOf, requestIdOf } from "../../evidence.ts";
import { levelOf } from "../../level.ts";
import { type Broken, brokenOf, type ProblemGroup, problemsOf, shownInstances } from "../../problems.ts";
import { rerunOf } from "../../reproduce.ts";
import type { ReportSource } from "../../source.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, duration, plural } from "../format.ts";
import { Copyable, DataTable, Foreign, Permalink, Section, StatusMark } from "../parts.tsx";
import { ExchangeView } from "./exchange.tsx";

/** What went wrong, each with what was expected, what came, and how to see it again. */
export function FailuresSection({ source, anchors }: { readonly source: ReportSource; readonly anchors: Anchors }) {
  const { record } = source;
  const groups = problemsOf(record);
  const shown = shownInstances(groups);
  const counted = groups.reduce((sum, { instances }) => sum + instances.length, 0);
  const [failed, others] = [
    groups.filter(({ status }) => status === "fail" || status === "flaky" || status === "harness-error"),
    groups.filter(({ status }) => status === "inconclusive" || status === "warn"),
  ];
  const number = (list: readonly ProblemGroup[]) => list.reduce((sum, { instances }) => sum + instances.length, 0);
  const finding =
    counted === 0
      ? record.checks.length === 0
        ? "Nothing was checked here."
        : "Nothing went wrong in any check."
      : [
          failed.length === 0
            ? "No check failed"
            : `${plural(failed.length, "check")} failed, ${plural(number(failed), "time")} in all`,
          others.length === 0 ? "" : `; ${plural(others.length, "other")} warned or could not be decided`,
          ".",
        ].join("");
  return (
    <Section id="failures" title="Failures" finding={finding}>
      {shown.size < counted ? (
        <p>
          Evidence of {decimal(shown.size)} instances is shown, of every check some. The rest is listed by name; the run
          folder holds the evidence of all.
        </p>
      ) : null}
      {groups.map((group, index) => (
        <Group
          key={`${group.check} ${group.status}`}
          group={group}
          first={index < 3 && failed.includes(group)}
          source={source}
          anchors={anchors}
          shown={shown}
        />
      ))}
    </Section>
  );
}

function Group({
  group,
  first,
  source,
  anchors,
  shown,
}: {
  readonly group: ProblemGroup;
  readonly first: boolean;
  readonly source: ReportSource;
  readonly anchors: Anchors;
  readonly shown: ReadonlySet<string>;
}) {
  const id = anchors.of("failure", `${group.check} ${group.status}`);
  const listed = group.instances.filter((instance) => !shown.has(instance.id));
  return (
    <article class={`problem is-${group.status}`} id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <StatusMark status={group.status} /> {oneLine(group.title, 160)}
        <Permalink id={id} what={group.check} />
      </h3>
      <p class="note">
        <code>{oneLine(group.check, 160)}</code>
        {group.instances.length > 1 ? `, ${plural(group.instances.length, "instance")}` : ""}
      </p>
      {group.instances
        .filter((instance) => shown.has(instance.id))
        .map((instance, index) => (
          <Instance key={instance.id} check={instance} open={first && index === 0} source={source} anchors={anchors} />
        ))}
      {listed.length === 0 ? null : (
        <details class="instance">
          <summary>{plural(listed.length, "further instance")}</summary>
          <ul class="plain">
            {listed.map((instance) => (
              <li key={instance.id}>
                <code>{oneLine(instance.id, 200)}</code> <Foreign text={oneLine(instance.message, 160)} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

/** Most findings of one instance that are tabled. */
const MOST_FINDINGS = 12;

function Instance({
  check,
  open,
  source,
  anchors,
}: {
  readonly check: CheckResult;
  readonly open: boolean;
  readonly source: ReportSource;
  readonly anchors: Anchors;
}) {
  const { record } = source;
  const broken = brokenOf(check);
  const seenIn = broken.flatMap(({ finding }) => finding.exchanges)[0] ?? check.exchanges.at(-1);
  const evidence = seenIn === undefined ? undefined : source.evidence(seenIn);
  const control = evidence === undefined ? undefined : controlOf(check, evidence, source);
  const pointers = broken.flatMap(({ finding }) => (finding.pointer === undefined ? [] : [finding.pointer]));
  return (
    <details class="instance" open={open} id={anchors.of("instance", check.id)}>
      <summary>
        <code>{oneLine(check.id, 200)}</code>
        {check.waived === undefined ? null : <span class="level">waived</span>}
        <span class="because">
          <Foreign text={oneLine(check.message, 160)} />
        </span>
      </summary>
      <div class="body">
        {check.waived === undefined ? null : (
          <p class="qualifiers">
            Waived until {oneLine(check.waived.expires, 20)} by {oneLine(check.waived.owner, 80)}:{" "}
            <Foreign text={oneLine(check.waived.reason, 300)} />
          </p>
        )}
        {broken.length === 0 ? (
          <p>
            <Foreign text={shorten(check.message, 1_000)} />
          </p>
        ) : (
          <Findings broken={broken} record={record} />
        )}
        {evidence === undefined ? (
          <p class="note">
            {seenIn === undefined
              ? "No exchange belongs to it."
              : `Exchange ${visible(seenIn)} is not in the run folder.`}
          </p>
        ) : (
          <Pair evidence={evidence} control={control} pointers={pointers} />
        )}
        <Again record={record} check={check} evidence={evidence} />
      </div>
    </details>
  );
}

function Level({ level = "" }: { readonly level: string | undefined }) {
  return <span class={`level ${level.toLowerCase()}`}>{level}</span>;
}

function Findings({ broken, record }: { readonly broken: readonly Broken[]; readonly record: RunRecord }) {
  return (
    <>
      <DataTable
        caption="Expected against observed"
        quietCaption
        head={["Requirement", "Where", "Expected", "Observed"]}
        rows={broken.slice(0, MOST_FINDINGS).map(({ finding, times }) => [
          <span key="requirement" class="nowrap">
            <span class="requirement-id">{finding.requirements[0]}</span> <Level level={levelOf(record, finding)} />
          </span>,
          <span key="where">
            {finding.pointer === undefined ? null : <code>{visible(finding.pointer)}</code>}
            {finding.note === undefined ? null : (
              <span class="because">
                <Foreign text={oneLine(finding.note, 160)} />
              </span>
            )}
            {times > 1 ? <span class="because">{decimal(times)} times</span> : null}
          </span>,
          <span key="expected" class="expected">
            <Foreign text={shorten(finding.expected ?? "otherwise", 400)} />
          </span>,
          <span key="observed" class="observed">
            <Foreign text={shorten(finding.observed, 400)} />
          </span>,
        ])}
      />
      {broken.length > MOST_FINDINGS ? <p class="note">and {broken.length - MOST_FINDINGS} more findings</p> : null}
    </>
  );
}

function Pair({
  evidence,
  control,
  pointers,
}: {
  readonly evidence: Evidence;
  readonly control: Evidence | undefined;
  readonly pointers: readonly string[];
}) {
  return (
    <div class={control === undefined ? "pair single" : "pair"}>
      <ExchangeView evidence={evidence} title="What was judged" against={control} pointers={pointers} />
      {control === undefined ? null : (
        <ExchangeView evidence={control} title="Its control request" against={evidence} pointers={[]} />
      )}
    </div>
  );
}

function Again({
  record,
  check,
  evidence,
}: {
  readonly record: RunRecord;
  readonly check: CheckResult;
  readonly evidence: Evidence | undefined;
}) {
  const id = evidence === undefined ? undefined : requestIdOf(evidence);
  return (
    <div class="again">
      {evidence === undefined ? null : (
        <p class="note">
          Exchange <code>{visible(evidence.id)}</code>, {outcomeOf(evidence)}, after{" "}
          {duration((evidence.timeline.endUs - (evidence.timeline.sentUs ?? evidence.timeline.dueUs)) / 1_000)};{" "}
          {id === undefined ? (
            "the gateway gave no request id."
          ) : (
            <>
              request id <code>{visible(shorten(id, 120))}</code>.
            </>
          )}
        </p>
      )}
      <h4>Run just this again</h4>
      <Copyable text={visible(rerunOf(record, check.id))} label="Command that runs just this again" />
      {/* A gateway that followed a script for a client is gone. */}
      {evidence === undefined || sideOf(record) === "client" ? null : (
        <>
          <h4>Or send it by hand</h4>
          <Copyable
            text={visible(curlLine(evidence, keyVariables(record.configuration.value)))}
            label="curl command with the key as a variable"
          />
        </>
      )}
    </div>
  );
}
