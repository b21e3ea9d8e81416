import { checkOfPhase, type LoadPhase, type LoadRun, type Quantiles, type RunRecord } from "../../src/record/index.ts";

/** Contradictory figures of a record, as text: none of them is possible, whatever a gateway does. */
export function impossibleFigures({ load, checks, counts }: RunRecord): string[] {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    ...(total === checks.length ? [] : [`${total} statuses are counted of ${checks.length} checks`]),
    ...(load?.runs ?? []).flatMap((run) => [
      ...run.phases.flatMap((phase) => ofPhase(checks, run, phase)),
      ...ofWaits(run),
    ]),
  ];
}

function ofPhase(checks: RunRecord["checks"], run: LoadRun, phase: LoadPhase): string[] {
  const { name, sent, admitted, denied, failed, invalid, offered, dropped, durationS, rates } = phase;
  const { classes, denials, failures, invalidReplies } = phase;
  const judged = checkOfPhase(checks, run, phase);
  const sum = (some: readonly { readonly count: number }[]) => some.reduce((all, { count }) => all + count, 0);
  const verdict: [what: string, holds: boolean][] = [
    [
      `${admitted} + ${denied} + ${failed} + ${invalid} ended of ${sent} sent`,
      admitted + denied + failed + invalid === sent,
    ],
    [`${sent} + ${dropped} sent or dropped of ${offered} offered`, sent + dropped === offered],
    [`classes hold ${sum(classes)} of ${sent}`, classes.length === 0 || sum(classes) === sent],
    [`denials hold ${sum(denials)} of ${denied}`, classes.length === 0 || sum(denials) === denied],
    [`failures hold ${sum(failures)} of ${failed}`, classes.length === 0 || sum(failures) === failed],
    [`invalid replies hold ${sum(invalidReplies)} of ${invalid}`, sum(invalidReplies) === invalid],
    [`${rates.sent}/s in ${durationS} s are ${sent}`, Math.abs(rates.sent * durationS - sent) <= 1 + sent * 0.01],
    ["a pass in which nothing was admitted", judged?.status !== "pass" || admitted > 0],
    [
      "a pass with an open question",
      judged?.status !== "pass" || judged.findings.every((f) => f.outcome !== "undecided"),
    ],
    ...classes.flatMap(({ responseMs, ttftMs, serviceMs }) =>
      [responseMs, ttftMs, serviceMs].map((one): [string, boolean] => ["quantiles out of order", isOrdered(one)]),
    ),
  ];
  return verdict.filter(([, holds]) => !holds).map(([what]) => `${run.name} ${name}: ${what}`);
}

function isOrdered(quantiles: Quantiles | null): boolean {
  if (quantiles === null) return true;
  const { p50, p90, p95, p99, p999, max } = quantiles;
  const all = [p50, p90, p95, p99, p999, max];
  return all.every((value, index) => index === 0 || value >= (all[index - 1] ?? 0) * 0.999);
}

function ofWaits({ name, retryAfter, phases }: LoadRun): string[] {
  if (retryAfter === null) return [];
  const sent = phases.reduce((sum, phase) => sum + phase.sent, 0);
  const { tested, sufficient, sufficientShare, groups } = retryAfter;
  const verdict: [what: string, holds: boolean][] = [
    [`${sufficient} sufficient of ${tested} tested waits`, sufficient <= tested],
    [`a share of ${tested} tested waits`, sufficientShare === null || tested >= 30],
    ...groups.flatMap((group): [string, boolean][] => [
      [`${group.earlyProbes} early requests of ${sent}`, group.earlyProbes <= sent],
      [
        `${group.earlyAdmitted} early requests admitted of ${group.earlyProbes}`,
        group.earlyAdmitted <= group.earlyProbes,
      ],
      [`${group.present} Retry-After on ${group.denials} denials`, group.present <= group.denials],
      [
        `${group.sufficient + group.insufficient + group.contended} waits of ${group.denials} denials`,
        group.sufficient + group.insufficient + group.contended <= group.denials,
      ],
    ]),
  ];
  return verdict.filter(([, holds]) => !holds).map(([what]) => `${name}: ${what}`);
}
