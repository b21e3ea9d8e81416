import { capitalized, utc } from "../../../src/core/index.ts";
import { type LoadRun, type RunRecord, STATUSES } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { commandLineOf } from "../../evidence/reproduce.ts";
import { resultOfLoad } from "../../figures/load-result.ts";
import { isLoadOnly, startedLoads } from "../../figures/started-loads.ts";
import { TONES, type Tone, VERDICT_TONES } from "../../status-style.ts";
import { describeComparison, isSuiteError } from "../../text/index.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, duration, enumerate, plural } from "../format.ts";
import { Facts, Foreign, Prose, StatusMark } from "../parts.tsx";
import { MainFigures, Sides } from "./changes.tsx";
import { secondRun } from "./environment.tsx";
import { Headline } from "./load/headline.tsx";
import { Unblock } from "./not-judged.tsx";
import { ProfileResults } from "./profiles.tsx";
import { Reasons } from "./reasons.tsx";

/** The verdict, its subject and its reasons: ten-second readers stop here. */
export function VerdictSection({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const { verdict, target } = record;
  const tone = VERDICT_TONES[verdict.result];
  // Other commands compare as well, with a baseline or an earlier run: their verdict is that of the run.
  const comparison = record.command === "compare" ? record.comparison : undefined;
  const second = secondRun(record);
  const of = second === undefined ? "" : ` (${second})`;
  const subject =
    comparison === undefined
      ? ([
          ["Target", <Foreign key="target" text={(target.addresses ?? [target.baseUrl]).join(", ")} />],
          [
            "Build",
            target.build === undefined ? "not stated by the gateway" : <Foreign key="build" text={target.build} />,
          ],
          ["Requests", decimal(record.traffic.requests)],
        ] as const)
      : [];
  return (
    <section id="verdict" class={`verdict ${tone}`} aria-labelledby="verdict-title">
      <ProfileResults record={record} />
      <div class="headline">
        <Shape tone={tone} result={verdict.result} />
        <div>
          <h1 id="verdict-title">
            <span class="result">
              {comparison === undefined ? WORDS[verdict.result] : COMPARISON_WORDS[comparison.verdict]}
            </span>
            <span class="target">
              <Foreign
                text={
                  comparison === undefined
                    ? target.name
                    : `${oneLine(comparison.b.name, 60)} compared with ${oneLine(comparison.a.name, 60)}`
                }
              />
            </span>
          </h1>
          <p class="lead">
            <Prose text={sentence(record)} />
          </p>
        </div>
      </div>
      {verdict.qualifiers.length === 0 ? null : (
        <ul class="qualifiers">
          {verdict.qualifiers.map((qualifier) => (
            <li key={qualifier}>
              <Prose text={qualifier} />
            </li>
          ))}
        </ul>
      )}
      {isLoadOnly(record) ? <LoadFigures record={record} /> : null}
      {comparison === undefined ? (
        <CountsBar record={record} />
      ) : (
        <>
          <Sides comparison={comparison} />
          <MainFigures comparison={comparison} />
          {comparison.nextStep === undefined ? null : (
            <p>
              <Prose text={oneLine(comparison.nextStep, 240)} />
            </p>
          )}
        </>
      )}
      <Reasons record={record} anchors={anchors} />
      {isLoadOnly(record) ? null : <Unblock record={record} />}
      <Facts
        pairs={[
          ...subject,
          [`Started${of}`, utc(record.startedAt)],
          [`Duration${of}`, duration(record.durationMs)],
          ["Exit code", String(verdict.exitCode)],
          ["Gauntlet", `${record.harness.name} ${record.harness.version}`],
        ]}
      />
      <dl class="command-line">
        <dt>Command</dt>
        <dd>
          <code>{unbroken(oneLine(commandLineOf(record), MAX_COMMAND))}</code>
        </dd>
      </dl>
    </section>
  );
}

/** A command that wraps between its words only: browsers also break lines after a hyphen. */
function unbroken(command: string) {
  return command.split(" ").flatMap((word, index) => [
    index === 0 ? "" : " ",
    word.length > MAX_UNBROKEN ? (
      word
    ) : (
      <span key={`${index} ${word}`} class="nowrap">
        {word}
      </span>
    ),
  ]);
}

/** A longer word does not fit on a phone. */
const MAX_UNBROKEN = 40;

/** Maximum number of characters of the command next to the verdict. */
const MAX_COMMAND = 1_000;

/** Loads whose figures are next to the verdict; the section of the load has all. */
const MAX_LOADS = 3;

/** Rates and latencies of a load, which its readers look for first. */
function LoadFigures({ record }: { readonly record: RunRecord }) {
  const runs = startedLoads(record);
  return (
    <>
      {runs.slice(0, MAX_LOADS).map((run) => (
        <div key={run.name}>
          {runs.length > 1 ? <h2 class="small">{oneLine(run.name, 60)}</h2> : null}
          <Result record={record} run={run} />
          <Headline run={run} />
        </div>
      ))}
    </>
  );
}

function Result({ record, run }: { readonly record: RunRecord; readonly run: LoadRun }) {
  const result = resultOfLoad(record, run);
  return result === undefined ? null : (
    <p>
      <Prose text={`${result}.`} />
    </p>
  );
}

const WORDS = { pass: "Pass", fail: "Fail", inconclusive: "Inconclusive", error: "Error" } as const;

const COMPARISON_WORDS = {
  regressed: "Regressed",
  improved: "Improved",
  "not worse": "Not worse",
  inconclusive: "Inconclusive",
} as const;

function sentence(record: RunRecord): string {
  const { verdict, counts, complete, checks, overhead } = record;
  const failed = checks.filter(
    ({ status, waived }) => (status === "fail" || status === "flaky") && waived === undefined,
  ).length;
  const untested = (counts.blocked ?? 0) + (counts.inconclusive ?? 0);
  const claimed = record.profiles?.filter((profile) => profile.claimed) ?? [];
  if (record.command === "compare" && record.comparison !== undefined) return describeComparison(record.comparison);
  const cut = complete ? "" : " The run was interrupted; these are the results so far.";
  switch (verdict.result) {
    case "pass":
      if (overhead !== undefined) return "Every level was measured, and the upstream does not differ from itself.";
      if (claimed.length > 0)
        return `${enumerate(claimed.map(({ name }) => name))}: every MUST was judged and met, or its violation is waived.${cut}`;
      return `No requirement was violated${(counts.warn ?? 0) > 0 ? `; ${resultsOf(record, counts.warn ?? 0)} warned` : ""}.${selectedSuites(record)}${cut}`;
    case "fail": {
      const errors = counts["harness-error"] ?? 0;
      const ended =
        errors > 0
          ? ` ${failed === 0 ? resultsOf(record, errors) : `${decimal(errors)} more`} ended with an error in the check itself.`
          : "";
      const open = `${untested > 0 ? ` ${decimal(untested)} more could not be decided.` : ""}${ended}`;
      if (failed === 0) return `${withoutFailure(record)}${open}${cut}`;
      if (isLoadOnly(record))
        return `${resultsOf(record, failed)} ${failed === 1 ? "was" : "were"} not met.${open}${cut}`;
      if (claimed.some(({ result }) => result === "not-conformant"))
        return `${enumerate(claimed.flatMap(({ name, result }) => (result === "not-conformant" ? [name] : [])))}: a MUST is violated.${cut}`;
      return `${resultsOf(record, failed)} failed.${open}${cut}`;
    }
    case "inconclusive":
      if (claimed.length > 0)
        return `No chosen profile has a violated MUST, but not every chosen profile was tested completely.${cut}`;
      return `No failures, but ${untested > 0 ? `${resultsOf(record, untested)} ${untested === 1 ? "was" : "were"} ${undecidedWords(record)}` : "too little was judged"}.${cut}`;
    case "error":
      return isSuiteError(checks)
        ? `Your suite has errors. Checks that ended with an error did not judge the gateway.${cut}`
        : `Gauntlet itself failed. The gateway was not judged.${cut}`;
  }
}

/** `2 check instances`; for a load, `2 load expectations`, which include its thresholds. */
const resultsOf = (record: RunRecord, count: number): string =>
  isLoadOnly(record) ? plural(count, "load expectation") : plural(count, "check instance");

/** Maximum number of suites that are named. */
const MAX_SUITES = 4;

/** ` 2 of 17 suites were selected: auth and errors.`; empty if all were, or the run was load only. */
function selectedSuites({ checks, notSelected = [] }: RunRecord): string {
  const selected = new Set(checks.flatMap(({ suite }) => (suite === "load" ? [] : [suite])));
  const all = new Set([...selected, ...notSelected.map((id) => id.slice(0, id.indexOf(".")))]);
  if (selected.size === 0 || selected.size === all.size) return "";
  const others = [...all].filter((suite) => !selected.has(suite));
  const names =
    selected.size <= MAX_SUITES
      ? `: ${enumerate([...selected])}`
      : others.length <= MAX_SUITES
        ? `; not selected: ${enumerate(others)}`
        : "";
  return ` ${selected.size} of ${all.size} suites ${selected.size === 1 ? "was" : "were"} selected${names}.`;
}

/** Why a run failed in which no check did: its first reason, as a sentence. */
function withoutFailure({ verdict: { reasons } }: RunRecord): string {
  const [first] = reasons;
  if (first === undefined) return "The run failed.";
  if (first.kind === "gate") {
    const gates = reasons.filter(({ kind }) => kind === "gate").length;
    return `${plural(gates, "gate of the policy was", "gates of the policy were")} not met.`;
  }
  const text = oneLine(first.text, 300);
  return `${capitalized(text).replace(/\.$/, "")}.`;
}

/** `blocked`, `inconclusive`, or both. */
const undecidedWords = ({ counts }: RunRecord): string =>
  (["blocked", "inconclusive"] as const).filter((status) => (counts[status] ?? 0) > 0).join(" or ");

/** Ring, octagon or diamond: the verdict is readable without colour. */
export function Shape({ tone, result }: { readonly tone: Tone; readonly result: string }) {
  const outline =
    tone === "good" ? (
      <circle cx="32" cy="32" r="28" />
    ) : tone === "bad" ? (
      <path d="M21 4h22l17 17v22L43 60H21L4 43V21z" />
    ) : (
      <path d="M32 3l29 29-29 29L3 32z" />
    );
  const inner =
    tone === "good" ? "M20 33l9 9 16-19" : tone === "bad" ? "M22 22l20 20M42 22L22 42" : "M32 19v16M32 43v3";
  return (
    <svg class="shape" viewBox="0 0 64 64" width="64" height="64" role="img" aria-label={`Verdict: ${result}`}>
      <g class="outline">{outline}</g>
      <path class="inner" d={inner} />
    </svg>
  );
}

function CountsBar({ record }: { readonly record: RunRecord }) {
  const present = STATUSES.filter((status) => (record.counts[status] ?? 0) > 0);
  const total = present.reduce((sum, status) => sum + (record.counts[status] ?? 0), 0);
  if (total === 0) return null;
  let x = 0;
  const width = 1_000;
  const parts = present.map((status) => {
    // A single failure among thousands must stay visible.
    const share = Math.max(4, ((record.counts[status] ?? 0) / total) * width);
    const part = { status, x, share };
    x += share;
    return part;
  });
  return (
    <div class="counts">
      <svg viewBox={`0 0 ${x} 10`} preserveAspectRatio="none" height="10" aria-hidden="true">
        {parts.map(({ status, x: left, share }) => (
          <rect
            key={status}
            class={`fill-${TONES[status]} is-${status}`}
            x={left}
            y="0"
            width={Math.max(1, share - 2)}
            height="10"
          />
        ))}
      </svg>
      <ul>
        {present.map((status) => (
          <li key={status}>
            <StatusMark status={status} label={`${decimal(record.counts[status] ?? 0)} ${status}`} />
          </li>
        ))}
      </ul>
    </div>
  );
}
