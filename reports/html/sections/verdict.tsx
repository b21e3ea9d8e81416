import type { ComponentChildren } from "preact";
import { type RunRecord, STATUSES, type Status } from "../../../src/record/index.ts";
import { weightOf } from "../../causes.ts";
import { oneLine, visible } from "../../clean-text.ts";
import { unexplainedProblems } from "../../problems.ts";
import { TONES, type Tone, VERDICT_TONES } from "../../status-style.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, duration, enumerate, plural, utc } from "../format.ts";
import { Facts, Foreign, StatusMark } from "../parts.tsx";
import { causeAnchor } from "./causes.tsx";

/** What was decided, about what, and why: the ten-second reader stops after this. */
export function VerdictSection({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const { verdict, target } = record;
  const tone = VERDICT_TONES[verdict.word];
  return (
    <section id="verdict" class={`verdict ${tone}`} aria-labelledby="verdict-title">
      <div class="headline">
        <Shape tone={tone} word={verdict.word} />
        <div>
          <h1 id="verdict-title">
            <span class="word">
              {verdict.word === "fail" ? "Fail" : verdict.word === "pass" ? "Pass" : WORDS[verdict.word]}
            </span>
            <span class="target">
              <Foreign text={target.name} />
            </span>
          </h1>
          <p class="lead">{sentence(record)}</p>
        </div>
      </div>
      {verdict.qualifiers.length === 0 ? null : (
        <ul class="qualifiers">
          {verdict.qualifiers.map((qualifier) => (
            <li key={qualifier}>{visible(qualifier)}</li>
          ))}
        </ul>
      )}
      <CountsBar record={record} />
      <Reasons record={record} anchors={anchors} />
      <Facts
        pairs={[
          ["Target", <Foreign key="target" text={target.baseUrl} />],
          ["Build", target.build === undefined ? "did not name itself" : <Foreign key="build" text={target.build} />],
          ["Started", utc(record.startedAt)],
          ["Duration", duration(record.durationMs)],
          ["Requests", decimal(record.traffic.requests)],
          ["Command", `gauntlet ${record.command}`],
          ["Exit code", String(verdict.exitCode)],
          ["Harness", `${record.harness.name} ${record.harness.version}`],
        ]}
      />
    </section>
  );
}

const WORDS = { inconclusive: "Inconclusive", error: "Error" } as const;

function sentence({ verdict, counts, complete, checks }: RunRecord): string {
  const failed = checks.filter(
    ({ status, waived }) => (status === "fail" || status === "flaky") && waived === undefined,
  ).length;
  const untested = (counts.blocked ?? 0) + (counts.inconclusive ?? 0);
  const cut = complete ? "" : " The run was cut short: this is what there was.";
  switch (verdict.word) {
    case "pass":
      return `No requirement was broken${(counts.warn ?? 0) > 0 ? `; ${plural(counts.warn ?? 0, "advice was", "advices were")} not followed` : ""}.${cut}`;
    case "fail":
      return `${failed > 0 ? `${plural(failed, "check")} found a broken requirement.` : "A gate was not met."}${untested > 0 ? ` ${decimal(untested)} more could not be decided.` : ""}${cut}`;
    case "inconclusive":
      return `Nothing was found broken, but ${untested > 0 ? `${plural(untested, "check")} could not be decided` : "too little was judged"}: this is not a pass.${cut}`;
    case "error":
      return `The harness itself failed; nothing is said about the gateway.${cut}`;
  }
}

/** Ring, octagon or diamond: the verdict can be read without colour. */
function Shape({ tone, word }: { readonly tone: Tone; readonly word: string }) {
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
    <svg class="shape" viewBox="0 0 64 64" width="64" height="64" role="img" aria-label={`Verdict: ${word}`}>
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
    // A single failure among thousands must still be seen.
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

/** A waiver that ends sooner wants somebody to look at it now. */
const SOON_DAYS = 14;

function endsSoon(expires: string, startedAt: string): boolean {
  return Date.parse(expires) - Date.parse(startedAt) < SOON_DAYS * 86_400_000;
}

/** Most reasons of each kind in the verdict; the causes section has all. */
const MOST_REASONS = 8;

function Reasons({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const causes = record.causes.map((cause, index) => ({ cause, id: causeAnchor(anchors, index) }));
  const failing = causes.filter(({ cause }) => cause.weight === "fail");
  const groups = unexplainedProblems(record).filter(({ status }) => status !== "warn");
  const blocked = record.checks.filter(({ status }) => status === "blocked").length;
  const known = new Set(record.checks.map(({ id }) => id));
  const others = record.verdict.reasons.filter(
    ({ check, text }) =>
      !text.startsWith("gate ") && (check === undefined || !known.has(check) || text.startsWith("waiver ")),
  );
  const ending = (record.waivers ?? []).filter(({ expires }) => endsSoon(expires, record.startedAt));
  const gates = (record.policy?.gates ?? []).filter(({ level }) => level === "error");
  const warned = record.counts.warn ?? 0;
  const lines = [
    ...others
      .filter(({ text }) => failing.length + groups.length === 0 || !/^and \d+ more$/.test(text))
      .map(({ text }) => (
        <Line key={text} status={WORD_STATUS[record.verdict.word]}>
          <Foreign text={oneLine(text, 300)} />
        </Line>
      )),
    ...(["fail", "inconclusive"] as const).flatMap((outcome) => {
      const those = gates.filter((gate) => gate.outcome === outcome);
      if (those.length === 0) return [];
      const names = enumerate(
        those.map(({ gate }) => oneLine(gate, 80)),
        4,
      );
      return [
        <Line key={outcome} status={outcome} because={names}>
          <a href="#gates">{plural(those.length, "gate")} of the policy</a>
        </Line>,
      ];
    }),
    ...failing.slice(0, MOST_REASONS).map(({ cause, id }) => (
      <Line key={id} status="fail" because={`${weightOf(cause)}, ${cause.requirement}`}>
        <a href={`#${id}`}>{oneLine(cause.title, 200)}</a>
      </Line>
    )),
    ...(failing.length > MOST_REASONS
      ? [
          <Line key="more causes" status="fail">
            <a href="#causes">and {plural(failing.length - MOST_REASONS, "more cause")}</a>
          </Line>,
        ]
      : []),
    ...groups.slice(0, MOST_REASONS).map((group) => (
      <Line
        key={`${group.check} ${group.status}`}
        status={group.status}
        because={oneLine(group.instances[0]?.message ?? "", 200)}
      >
        <a href={`#${anchors.of("failure", `${group.check} ${group.status}`)}`}>{oneLine(group.title, 160)}</a>
        {group.instances.length > 1 ? ` (${decimal(group.instances.length)} times)` : ""}
      </Line>
    )),
    ...(groups.length > MOST_REASONS
      ? [
          <Line key="more" status={groups[MOST_REASONS]?.status ?? "inconclusive"}>
            <a href="#unexplained">and {plural(groups.length - MOST_REASONS, "more check")}</a>
          </Line>,
        ]
      : []),
    ...(blocked > 0
      ? [
          <Line key="blocked" status="blocked">
            <a href="#not-run">{plural(blocked, "check was", "checks were")} not run</a>: something they need is
            missing.
          </Line>,
        ]
      : []),
    ...(ending.length > 0
      ? [
          <Line key="waivers" status="warn">
            <a href="#waivers">{plural(ending.length, "waiver ends", "waivers end")}</a> within {SOON_DAYS} days.
          </Line>,
        ]
      : []),
    ...(warned > 0
      ? [
          <Line key="warned" status="warn">
            <a href="#causes">{plural(warned, "check")} warned</a>: advice not followed, which decides nothing.
          </Line>,
        ]
      : []),
  ];
  if (lines.length === 0) return null;
  return (
    <div class="reasons">
      <h2 class="small">Why</h2>
      <ul>{lines}</ul>
    </div>
  );
}

const WORD_STATUS = { pass: "pass", fail: "fail", inconclusive: "inconclusive", error: "harness-error" } as const;

function Line({
  status,
  because,
  children,
}: {
  readonly status: Status;
  readonly because?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <StatusMark status={status} />
      <div>
        {children}
        {because === undefined ? null : (
          <span class="because">
            <Foreign text={because} />
          </span>
        )}
      </div>
    </li>
  );
}
