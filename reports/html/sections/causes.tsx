import { type CheckResult, checksOfRun, type RunRecord } from "../../../src/record/index.ts";
import { causesInWords, checkOfExchange, weightOf } from "../../causes.ts";
import { oneLine, visible } from "../../clean-text.ts";
import { sideOf } from "../../coverage.ts";
import { controlOf } from "../../evidence/control-request.ts";
import {
  type CauseGroup,
  causeGroupsOf,
  type ProblemGroup,
  shownInstances,
  unexplainedProblems,
} from "../../evidence/problems.ts";
import type { ReportSource } from "../../evidence/source.ts";
import { isLoadOnly, startedLoads } from "../../figures/started-loads.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, plural } from "../format.ts";
import { Heading, Permalink, Prose, Section, Sentence, StatusMark } from "../parts.tsx";
import { Again, Instance, Pair } from "./instance.tsx";
import { chartsLink } from "./load/charts.tsx";

/** Causes whose exchange is shown unfolded. */
const MAX_UNFOLDED = 3;

interface Context {
  readonly source: ReportSource;
  readonly anchors: Anchors;
  /** Results whose evidence is shown. */
  readonly shown: ReadonlySet<string>;
}

/** What went wrong: each cause with the results that it explains, then the problems without a cause. */
export function CausesSection({ source, anchors }: { readonly source: ReportSource; readonly anchors: Anchors }) {
  const { record } = source;
  const causes = causeGroupsOf(record);
  const others = unexplainedProblems(record);
  const groups = [...causes, ...others];
  const shown = shownInstances(groups);
  const counted = groups.reduce((sum, { instances }) => sum + instances.length, 0);
  const context = { source, anchors, shown };
  return (
    <Section id="causes" title={causesTitle(record)} finding={sentence(record, others)}>
      {shown.size < counted ? (
        <p>
          Evidence is shown for {decimal(shown.size)} results, some of each cause. The others are listed by name; the
          run folder holds all evidence.
        </p>
      ) : null}
      {causes.some(({ cause }) => cause.weight === "fail" && isOfSpecification(record, cause)) ? (
        <p>
          A failure means that clients written for the specification do not get what they rely on. If this gateway
          signals the same thing differently, declare it under <code>contract</code> in the target file; it is then
          judged by that. If the failure is known and accepted for now, write a waiver.
        </p>
      ) : null}
      {causes.map((group, index) => (
        <CauseArticle key={index} group={group} index={index} context={context} />
      ))}
      {others.length === 0 ? null : (
        <>
          {causes.length === 0 ? <div id="unexplained" /> : <Heading id="unexplained" title="Without a cause" />}
          {others.map((group) => (
            <Group key={`${group.check} ${group.status}`} group={group} context={context} />
          ))}
        </>
      )}
    </Section>
  );
}

const isOfSpecification = ({ requirements }: RunRecord, { requirement }: CauseGroup["cause"]): boolean =>
  requirements.some(({ id, layer }) => id === requirement && layer === "specification");

function sentence(record: RunRecord, others: readonly ProblemGroup[]): string {
  const rest = others.reduce((sum, { instances }) => sum + instances.length, 0);
  const inWords = causesInWords(record);
  if (inWords === undefined && isLoadOnly(record))
    return `${plural(rest, "load expectation was", "load expectations were")} not met or undecided.`;
  const parts = [
    inWords ?? "",
    rest === 0 ? "" : `${plural(rest, "result")} without a cause: ${countedStatuses(others)}.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** `2 inconclusive, 1 warn`. */
function countedStatuses(groups: readonly ProblemGroup[]): string {
  const counts = new Map<string, number>();
  for (const { status, instances } of groups) counts.set(status, (counts.get(status) ?? 0) + instances.length);
  return [...counts].map(([status, count]) => `${decimal(count)} ${status}`).join(", ");
}

/** Results without a cause have a title of their own; those of a load are thresholds and phases, which explain themselves. */
export function causesTitle(record: RunRecord): string {
  if (record.causes.length > 0) return "Causes";
  if (isLoadOnly(record)) return "Not met or undecided";
  const isUndecided = unexplainedProblems(record).every(({ status }) => status === "inconclusive");
  return isUndecided ? "Undecided" : "Without a cause";
}

/** Anchor of a cause; the verdict links to it. */
export const causeAnchor = (anchors: Anchors, index: number): string => anchors.of("cause", String(index + 1));

interface CauseArticleProps {
  readonly group: CauseGroup;
  readonly index: number;
  readonly context: Context;
}

function CauseArticle({ group, index, context }: CauseArticleProps) {
  const { cause } = group;
  const { source, anchors } = context;
  const id = causeAnchor(anchors, index);
  const check = checkOfExchange(source.record, cause);
  const isUnfolded = index < MAX_UNFOLDED && cause.weight === "fail";
  return (
    <article class={`problem is-${cause.weight}`} id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <StatusMark status={cause.weight} label={weightOf(source.record, cause)} />{" "}
        <Sentence text={oneLine(cause.title, 200)} />
        <Permalink id={id} what={cause.title} />
      </h3>
      <Requirements group={group} context={context} />
      <p>
        <strong>What to do.</strong> <Advice group={group} context={context} />
      </p>
      {check === undefined ? null : <Seen group={group} check={check} isUnfolded={isUnfolded} context={context} />}
      <Explained group={group} context={context} />
    </article>
  );
}

/** What to do, and for a cause seen under load a link to the charts. */
function Advice({ group: { cause }, context: { source, anchors } }: Pick<CauseArticleProps, "group" | "context">) {
  const { record } = source;
  const run = startedLoads(record).find((load) =>
    checksOfRun(record.checks, load).some(({ id }) => cause.checks.includes(id)),
  );
  const href = run === undefined ? undefined : chartsLink(record, run, anchors);
  return (
    <>
      <Prose text={cause.advice} /> {href === undefined ? null : <a href={href}>Charts of the load</a>}
    </>
  );
}

/** The sentence of the first violated requirement, and links to the others. */
function Requirements({ group: { cause }, context }: { readonly group: CauseGroup; readonly context: Context }) {
  const { record } = context.source;
  const side = sideOf(record);
  const known = new Map(record.requirements.map((requirement) => [requirement.id, requirement]));
  const link = (id: string) =>
    known.get(id)?.binds === side && !isLoadOnly(record) ? (
      <a key={id} class="requirement-id linked" href={`#${context.anchors.of("requirement", id)}`}>
        {visible(id)}
      </a>
    ) : (
      <span key={id} class="requirement-id">
        {visible(id)}
      </span>
    );
  const first = known.get(cause.requirement);
  const others = cause.requirements.filter((id) => id !== cause.requirement);
  return (
    <p class="broken">
      {link(cause.requirement)}
      {first === undefined ? null : (
        <>
          {" "}
          <span class={`level ${first.level.toLowerCase()}`}>{first.level}</span> <Prose text={first.text} />
        </>
      )}
      {others.length === 0 ? null : (
        <span class="because">
          Also violated:{" "}
          {others.flatMap((id) => [link(id), known.get(id) === undefined ? " " : ` (${known.get(id)?.level}) `])}
        </span>
      )}
    </p>
  );
}

interface SeenProps {
  readonly group: CauseGroup;
  readonly check: CheckResult;
  readonly isUnfolded: boolean;
  readonly context: Context;
}

/** An exchange that shows the cause, next to its control request. */
function Seen({ group: { cause }, check, isUnfolded, context }: SeenProps) {
  const { source, anchors } = context;
  const evidence = cause.exchange === undefined ? undefined : source.evidence(cause.exchange);
  const control = evidence === undefined ? undefined : controlOf(check, evidence, source);
  const pointers = check.findings.flatMap(({ outcome, pointer }) =>
    outcome === "broken" && pointer !== undefined ? [pointer] : [],
  );
  return (
    <details class="seen on-paper" open={isUnfolded}>
      <summary>
        {evidence === undefined
          ? "How to reproduce it"
          : control === undefined
            ? "An exchange"
            : "An exchange and its control request"}
      </summary>
      <p class="note">
        Of the check <CheckName record={source.record} id={check.id} anchors={anchors} />
      </p>
      {evidence === undefined ? null : (
        <Pair
          evidence={evidence}
          control={control}
          pointers={pointers}
          title={check.suite === "load" ? "An exchange of the phase" : "What was judged"}
        />
      )}
      <Again record={source.record} check={check} evidence={evidence} control={control} />
    </details>
  );
}

/** The results of a cause, each with its own evidence. */
function Explained({ group, context }: { readonly group: CauseGroup; readonly context: Context }) {
  const { cause, instances, shownBefore } = group;
  const { source, anchors, shown } = context;
  return (
    <details class="explained">
      <summary>{plural(cause.checks.length, "check instance")} with this cause</summary>
      {instances
        .filter(({ id }) => shown.has(id))
        .map((check) => (
          <Instance key={check.id} check={check} source={source} anchors={anchors} shownAbove={cause.exchange} />
        ))}
      <Listed record={source.record} checks={instances.filter(({ id }) => !shown.has(id))} anchors={anchors} />
      {shownBefore.length === 0 ? null : (
        <>
          <p class="note">Shown with an earlier cause:</p>
          <Listed record={source.record} checks={shownBefore} anchors={anchors} />
        </>
      )}
    </details>
  );
}

interface CheckNameProps {
  readonly record: RunRecord;
  readonly id: string;
  readonly anchors: Anchors;
}

/** Linked to the list of all checks, if the page has one. */
function CheckName({ record, id, anchors }: CheckNameProps) {
  const name = <code>{oneLine(id, 200)}</code>;
  return isLoadOnly(record) ? name : <a href={`#${anchors.of("check", id)}`}>{name}</a>;
}

interface ListedProps extends Pick<CheckNameProps, "record" | "anchors"> {
  readonly checks: readonly CheckResult[];
}

function Listed({ record, checks, anchors }: ListedProps) {
  if (checks.length === 0) return null;
  return (
    <ul class="plain listed">
      {checks.map((check) => (
        <li key={check.id}>
          <CheckName record={record} id={check.id} anchors={anchors} /> <Sentence text={oneLine(check.message)} />
        </li>
      ))}
    </ul>
  );
}

/** Results of one check without a cause: undecided, waived, or failed in the harness itself. */
function Group({ group, context }: { readonly group: ProblemGroup; readonly context: Context }) {
  const { source, anchors, shown } = context;
  const id = anchors.of("failure", group.id);
  return (
    <article class={`problem is-${group.status}`} id={id} aria-labelledby={`${id}-title`}>
      <h4 id={`${id}-title`}>
        <StatusMark status={group.status} /> <Sentence text={oneLine(group.title, 160)} />
        <Permalink id={id} what={group.check} />
      </h4>
      {group.instances
        .filter((instance) => shown.has(instance.id))
        .map((instance) => (
          <Instance key={instance.id} check={instance} source={source} anchors={anchors} />
        ))}
      <Listed
        record={source.record}
        checks={group.instances.filter((instance) => !shown.has(instance.id))}
        anchors={anchors}
      />
    </article>
  );
}
