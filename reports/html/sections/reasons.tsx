import { type Comparison, lacksFixture, type RunRecord, type Status } from "../../../src/record/index.ts";
import { weightOf } from "../../causes.ts";
import { oneLine } from "../../clean-text.ts";
import { decisiveProblems, isDecisive, isOfCheck } from "../../evidence/problems.ts";
import { isLoadOnly } from "../../figures/started-loads.ts";
import { describeComparison, describeNewFailures, mainFigures } from "../../text/index.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, enumerate, plural } from "../format.ts";
import { Prose, Sentence, StatusMark } from "../parts.tsx";
import { causeAnchor } from "./causes.tsx";

/** A line of the verdict: a status, its subject, and a link to more. */
interface Reason {
  readonly status: Status;
  readonly text: string;
  /** A place on the page. */
  readonly href?: string;
  /** Text after the link. */
  readonly tail?: string;
  /** In small print below. */
  readonly because?: string;
}

/** Maximum number of reasons of each kind in the verdict; the other sections list all. */
const MAX_REASONS = 8;

/** The reasons for the verdict: causes first, then problems without a cause, then what was not judged and warnings. */
export function Reasons({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const reasons = [
    ...ofCauses(record, anchors),
    ...ofRun(record),
    ...ofGates(record),
    // Before what it causes: a check that judges the traffic of others has nothing to judge if they did not run.
    ...ofBlocked(record),
    ...ofUnexplained(record, anchors),
    ...ofTheRest(record),
  ];
  if (reasons.length === 0) return null;
  return (
    <div class="reasons">
      <h2 class="small">Why</h2>
      <ul>
        {reasons.map(({ status, text, href, tail = "", because }, index) => (
          <li key={index}>
            <StatusMark status={status} />
            <div>
              {href === undefined ? (
                <Sentence text={text} />
              ) : (
                <a href={href}>
                  <Prose text={text} />
                </a>
              )}
              {tail}
              {because === undefined ? null : (
                <span class="because">
                  <Sentence text={because} />
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Causes of failures, with their place in the list of all causes. */
const failingCauses = ({ causes }: RunRecord) =>
  causes.flatMap((cause, index) => (cause.weight === "fail" ? [{ cause, index }] : []));

const decisiveCauses = (record: RunRecord) =>
  failingCauses(record).filter(({ cause }) => isDecisive(record, cause.checks));

function ofCauses(record: RunRecord, anchors: Anchors): Reason[] {
  const all = failingCauses(record);
  const failing = decisiveCauses(record);
  const more = failing.length - MAX_REASONS;
  const unchanged = all.length - failing.length;
  return [
    ...failing.slice(0, MAX_REASONS).map(
      ({ cause, index }): Reason => ({
        status: "fail",
        text: oneLine(cause.title, 200),
        href: `#${causeAnchor(anchors, index)}`,
        because: `${weightOf(record, cause)}, ${cause.requirement}`,
      }),
    ),
    ...(more > 0 ? [{ status: "fail", text: `and ${plural(more, "more cause")}`, href: "#causes" } as const] : []),
    ...(unchanged > 0
      ? [
          {
            status: "observed",
            text: `${plural(unchanged, "cause")} of failures that are not new, or that were not compared`,
            href: "#causes",
            tail: ": they do not affect the verdict.",
          } as const,
        ]
      : []),
  ];
}

const WORD_STATUS = { pass: "pass", fail: "fail", inconclusive: "inconclusive", error: "harness-error" } as const;

/** Reasons that are not checks: an interrupted run, waivers that no longer apply, results of a comparison. */
function ofRun(record: RunRecord): Reason[] {
  const { verdict, checks, comparison } = record;
  const status = WORD_STATUS[verdict.result];
  const known = new Set(checks.map(({ id }) => id));
  const others = verdict.reasons.filter(
    ({ kind, check }) =>
      kind === "waiver" ||
      kind === "run" ||
      kind === "profile" ||
      (kind === "checks" && (check === undefined || !known.has(check))),
  );
  return [
    ...others.map(({ text }) => ({ status, text: oneLine(text, 300) })),
    ...(comparison === undefined ? [] : ofComparison(record, comparison)),
  ];
}

/** The conclusion, and the figures of both sides that led to it. */
function ofComparison(record: RunRecord, comparison: Comparison): Reason[] {
  const status = WORD_STATUS[record.verdict.result];
  // A run that is nothing but the comparison: its conclusion and figures are the verdict itself.
  if (record.command === "compare") {
    const { newlyFailing } = comparison.checks;
    const listed = areListed(record, newlyFailing) ? describeNewFailures(newlyFailing) : [];
    return comparison.reasons
      .filter(({ text }) => !listed.includes(text))
      .map((reason): Reason => ({ status: reason.status, text: oneLine(reason.text, 400), href: "#changes" }));
  }
  // Gates decide about a baseline.
  if (comparison.kind === "baseline" && comparison.reasons.length === 0) return [];
  const figures = mainFigures(comparison).map((figure) => oneLine(figure, 240));
  const text = oneLine(describeComparison(comparison), 400);
  return [{ status, text, href: "#changes", ...(figures.length > 0 && { because: figures.join("; ") }) }];
}

/** Whether all new failures are among the causes and the problems without a cause that are listed as reasons themselves. */
function areListed(record: RunRecord, newlyFailing: Comparison["checks"]["newlyFailing"]): boolean {
  const causes = decisiveCauses(record).slice(0, MAX_REASONS);
  const others = listedProblems(record).slice(0, MAX_REASONS);
  const ids = [
    ...causes.flatMap(({ cause }) => cause.checks),
    ...others.flatMap(({ instances }) => instances.map(({ id }) => id)),
  ];
  return newlyFailing.every((change) => ids.some((id) => isOfCheck(change, id)));
}

function ofGates({ policy }: RunRecord): Reason[] {
  const gates = (policy?.gates ?? []).filter(({ level }) => level === "error");
  return (["fail", "inconclusive"] as const).flatMap((status): Reason[] => {
    const names = gates.filter(({ outcome }) => outcome === status).map(({ gate }) => oneLine(gate, 80));
    return names.length === 0
      ? []
      : [
          {
            status,
            text: `${plural(names.length, "gate")} of the policy`,
            href: "#gates",
            because: enumerate(names, 4),
          },
        ];
  });
}

const listedProblems = (record: RunRecord) => decisiveProblems(record).filter(({ status }) => status !== "warn");

function ofUnexplained(record: RunRecord, anchors: Anchors): Reason[] {
  const groups = listedProblems(record);
  const [next, ...rest] = groups.slice(MAX_REASONS);
  return [
    ...groups.slice(0, MAX_REASONS).map(
      ({ id, status, title, instances }): Reason => ({
        status,
        text: oneLine(title, 160),
        href: `#${anchors.of("failure", id)}`,
        tail: instances.length > 1 ? ` (${decimal(instances.length)} times)` : "",
        because: oneLine(instances[0]?.message ?? ""),
      }),
    ),
    ...(next === undefined
      ? []
      : [{ status: next.status, text: `and ${plural(rest.length + 1, "more check instance")}`, href: "#unexplained" }]),
  ];
}

/** A waiver that expires sooner needs attention now. */
const SOON_DAYS = 14;

function ofBlocked(record: RunRecord): Reason[] {
  const { checks } = record;
  const blocked = checks.filter(({ status }) => status === "blocked").length;
  if (blocked === 0) return [];
  const isInFile = checks.every((check) => check.status !== "blocked" || lacksFixture(check));
  const howToGoOn = isInFile
    ? ' Run "gauntlet doctor" to list it, or "gauntlet init --accept-gaps" to declare it unavailable.'
    : "";
  return [
    {
      status: "blocked",
      text: `${plural(blocked, "check instance was", "check instances were")} not run`,
      ...(isLoadOnly(record) ? {} : { href: "#not-run" }),
      tail: `: what ${blocked === 1 ? "it needs" : "they need"} is missing.${howToGoOn}`,
    },
  ];
}

/** What expires soon, and warnings. */
function ofTheRest({ command, comparison, counts, waivers = [], startedAt }: RunRecord): Reason[] {
  const warned = counts.warn ?? 0;
  const newly = command === "compare" ? comparison?.checks.worse.length : undefined;
  const ending = waivers.filter(
    ({ expires }) => Date.parse(expires) - Date.parse(startedAt) < SOON_DAYS * 86_400_000,
  ).length;
  const reasons: (readonly [number, Reason])[] = [
    [
      ending,
      {
        status: "warn",
        text: plural(ending, "waiver ends", "waivers end"),
        href: "#waivers",
        tail: ` within ${SOON_DAYS} days.`,
      },
    ],
    [
      warned,
      {
        status: "warn",
        text: `${plural(warned, "check instance")} warned`,
        href: "#causes",
        // A comparison judges what changed: a check that passed and now warns is a regression.
        tail:
          newly === undefined
            ? ". Warnings do not change the verdict."
            : `, ${newly === 0 ? "none" : decimal(newly)} of them newly. Of the warnings, only new ones are regressions.`,
      },
    ],
  ];
  return reasons.flatMap(([count, reason]) => (count > 0 ? [reason] : []));
}
