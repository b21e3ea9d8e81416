import type { CheckResult } from "./check-result.ts";
import type { Finding } from "./finding.ts";
import type { JudgedLoad, JudgedRun } from "./judged-load.ts";
import type { JudgedPhase, LoadRun, LoadSection } from "./sections/load-section.ts";
import { type Status, worstStatus } from "./status.ts";

type Named = Pick<LoadRun, "name">;

/** `load.starter`: whether a load run as a whole is reliable. */
const runCheckId = ({ name }: Named): string => `load.${name}`;

/** `load.starter.over-rate-limit`. */
export const phaseCheckId = (run: Named, { name }: Named): string => `${runCheckId(run)}.${name}`;

/** Load results as checks: one for each run, for each phase, and for each invariant over sampled exchanges of a phase. */
export function checksOfLoad(load: JudgedLoad | undefined): CheckResult[] {
  return (load?.runs ?? []).flatMap((run) => [
    judgedRun(run),
    ...judgedThresholds(run),
    ...judgedEvents(run),
    ...run.phases.flatMap((phase) => [
      judgedPhase(run, phase),
      ...phase.invariants.map((result) => ({ ...result, id: `${phaseCheckId(run, phase)}.${result.id}` })),
    ]),
  ]);
}

/** The same for load that was not sent. @param why as text. */
export function checksOfUnsent(names: readonly string[], why: string): CheckResult[] {
  return names.map((name) => ({
    ...FRAME,
    id: runCheckId({ name }),
    check: "load.run",
    title: RUN_TITLE,
    status: "inconclusive",
    message: `no load was sent: ${why}`,
    durationMs: 0,
  }));
}

/** The figures of a load run; its findings are among the checks. */
export function figuresOfLoad(load: JudgedLoad): LoadSection {
  return {
    runs: load.runs.map(
      ({
        verdict: _verdict,
        reasons: _reasons,
        thresholds: _thresholds,
        disturbance: _disturbance,
        endedBy: _endedBy,
        phases,
        ...run
      }) => ({
        ...run,
        phases: phases.map(
          ({ verdict: _of, message: _message, findings: _findings, invariants: _invariants, ...phase }) => phase,
        ),
      }),
    ),
  };
}

/** Checks of a load run: of the run, of its phases, of the invariants over sampled exchanges. */
export function checksOfRun(checks: readonly CheckResult[], run: Named): CheckResult[] {
  const id = runCheckId(run);
  return checks.filter((check) => check.id === id || check.id.startsWith(`${id}.`));
}

/** The check of a phase; `undefined` if the record lacks it. */
export function checkOfPhase(checks: readonly CheckResult[], run: Named, phase: Named): CheckResult | undefined {
  const id = phaseCheckId(run, phase);
  return checks.find((check) => check.id === id);
}

/**
 * The verdict on a phase as tables show it: with the invariants over its exchanges. If a run has one
 * phase, its thresholds apply to that phase, so that the phase has the verdict of the run.
 *
 * @returns `undefined` if the record lacks the check of the phase.
 */
export function statusOfPhase(
  checks: readonly CheckResult[],
  run: Named & { readonly phases: readonly Named[] },
  phase: Named,
): Status | undefined {
  const own = checkOfPhase(checks, run, phase);
  if (own === undefined) return undefined;
  const all = checksOfRun(checks, run);
  const others = run.phases.length === 1 ? all : all.filter(({ id }) => id.startsWith(`${own.id}.`));
  // A check that passed in another phase does not make a phase pass in which nothing was judged.
  const worse = others.map(({ status }) => status).filter((status) => status !== "pass");
  return worstStatus([own.status, ...worse]);
}

const RUN_TITLE = "Load generation";

const FRAME = {
  suite: "load",
  layer: "specification",
  axes: {},
  requirements: [],
  violated: [],
  findings: [],
  attestations: [],
  unblock: [],
  exchanges: [],
} satisfies Partial<CheckResult>;

/** Problems of the run as a whole: the generator was not valid, the run was stopped, or nothing was sent. */
function judgedRun(run: JudgedRun): CheckResult {
  const open = run.reasons.filter(({ phase }) => phase === undefined);
  const [{ reason } = {}, ...more] = open;
  const undecided = run.verdict === "inconclusive" && run.phases.every(({ verdict }) => verdict !== "inconclusive");
  const isOpen = open.length > 0 || undecided || run.phases.length === 0;
  return {
    ...FRAME,
    id: runCheckId(run),
    check: "load.run",
    title: RUN_TITLE,
    status: isOpen ? "inconclusive" : "pass",
    message: isOpen ? open.map(({ text }) => text).join("; ") || "nothing was sent" : "the generator kept its schedule",
    ...(reason !== undefined && more.length === 0 && { reason }),
    // The time is counted in the phases.
    durationMs: 0,
  };
}

/** The checks of a run's thresholds, in the order of its workload. */
export function checksOfThresholds(checks: readonly CheckResult[], run: Named): CheckResult[] {
  return checksOfRun(checks, run).filter(({ check }) => check === "load.thresholds");
}

/** `load.chatty.thresholds[failed < 0.5 %]`. */
function judgedThresholds(run: JudgedRun): CheckResult[] {
  return (run.thresholds ?? []).map((judged) => {
    const text = judged.findings[0]?.name ?? "";
    return {
      ...FRAME,
      ...judged,
      id: `${runCheckId(run)}.thresholds[${text}]`,
      check: "load.thresholds",
      title: `Threshold: ${text}`,
      axes: { run: run.name, threshold: text },
      durationMs: 0,
    };
  });
}

/** `load.rolling-restart.events`. */
const eventsCheckId = (run: Named): string => `${runCheckId(run)}.events`;

/** The check of a run's events; `undefined` if its workload has none. */
export function checkOfEvents(checks: readonly CheckResult[], run: Named): CheckResult | undefined {
  const id = eventsCheckId(run);
  return checks.find((check) => check.id === id);
}

function judgedEvents(run: JudgedRun): CheckResult[] {
  if (run.disturbance === undefined) return [];
  return [
    {
      ...FRAME,
      ...run.disturbance,
      id: eventsCheckId(run),
      check: "load.events",
      title: "Events of the workload",
      axes: { run: run.name },
      durationMs: 0,
    },
  ];
}

function judgedPhase(run: JudgedRun, phase: JudgedPhase): CheckResult {
  const { findings } = phase;
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  return {
    ...FRAME,
    id: phaseCheckId(run, phase),
    check: `load.${phase.name}`,
    title: phase.title,
    axes: { run: run.name },
    status: phase.verdict,
    message: phase.message,
    ...(phase.verdict === "inconclusive" && reasonOf(findings)),
    requirements: [...new Set(findings.flatMap(({ requirements }) => requirements))],
    violated: [...new Set(broken.flatMap(({ requirements }) => requirements))],
    findings,
    exchanges: [...new Set(findings.flatMap(({ exchanges }) => exchanges))],
    durationMs: phase.durationS * 1_000,
  };
}

/** The reason why a phase is undecided, if the machine was busy and no finding has another reason. */
function reasonOf(findings: readonly Finding[]): Pick<CheckResult, "reason"> {
  const reasons = findings.flatMap(({ outcome, reason }) =>
    outcome === "undecided" && reason !== undefined ? [reason] : [],
  );
  const busy = reasons.find(({ kind }) => kind === "machine-busy");
  const isOne = busy !== undefined && reasons.every(({ kind }) => kind === busy.kind);
  return isOne ? { reason: busy } : {};
}
