import { CHECKS } from "../../suites/index.ts";
import { instancesOf, Response, readingRules, resultOf } from "../checks/index.ts";
import type { Sample } from "../load/index.ts";
import type { LoadPhase, LoadRun, LoadSection } from "../record/index.ts";
import type { Target } from "../target/index.ts";

/** Judges that count all the traffic of an account: over samples they would count too little. */
const NEED_ALL: readonly string[] = ["limits.rate-far-below", "limits.rate-any-minute", "robustness.busy-streams"];
/** Judges of moments: the load's own findings know when this process stood still, samples do not. */
const TIMED: readonly string[] = ["robustness.answer-in-time", "limits.slots-lone-denial"];

const INVARIANTS = CHECKS.filter(
  ({ kind, id }) => kind === "invariant" && ![...NEED_ALL, ...TIMED].includes(id),
).flatMap(instancesOf);

/** Puts the judges of the conformance suites over the kept exchanges of every phase; a broken MUST fails the phase. */
export function judgeSamples(section: LoadSection, samples: readonly Sample[], target: Target): LoadSection {
  const rules = readingRules(target);
  const byPhase = new Map<string, Response[]>();
  for (const { phase, exchange, asked } of samples) {
    const answer = new Response(exchange, asked, rules);
    const known = byPhase.get(phase);
    if (known === undefined) byPhase.set(phase, [answer]);
    else known.push(answer);
  }
  return { runs: section.runs.map((run) => judgeRun(run, byPhase)) };
}

function judgeRun(run: LoadRun, byPhase: ReadonlyMap<string, readonly Response[]>): LoadRun {
  const phases = run.phases.map((phase) => judgePhase(phase, byPhase.get(`${run.name}/${phase.name}`) ?? []));
  const failed = phases.filter(({ verdict }) => verdict === "fail");
  if (run.verdict === "fail" || failed.length === 0) {
    const warned = phases.some(({ verdict }) => verdict === "warn");
    return { ...run, phases, verdict: run.verdict === "pass" && warned ? "warn" : run.verdict };
  }
  const reasons = [...failed.map(({ name, message }) => `${name}: ${message}`), ...run.reasons];
  return { ...run, phases, verdict: "fail", reasons };
}

function judgePhase(phase: LoadPhase, answers: readonly Response[]): LoadPhase {
  if (answers.length === 0) return phase;
  const judges = INVARIANTS.map((instance) => resultOf(instance, answers, { attestations: [], durationMs: 0 }))
    .filter(({ status }) => status !== "inconclusive" && status !== "not-applicable")
    .map(({ check, title, status, message, violated, findings }) => ({
      check,
      title,
      status,
      message,
      requirements: violated,
      exchanges: [
        ...new Set(
          findings
            .filter(({ outcome, exchange }) => outcome === "broken" && exchange !== undefined)
            .map(({ exchange }) => exchange as string),
        ),
      ].slice(0, 5),
    }));
  const worst = judges.find(({ status }) => status === "fail") ?? judges.find(({ status }) => status === "warn");
  const judged = { ...phase, judges, sampled: answers.length };
  if (worst === undefined) return judged;
  // What an answer holds is wrong whether or not the generator was on time.
  if (worst.status === "fail" && phase.verdict !== "fail")
    return { ...judged, verdict: "fail", message: `${worst.check}: ${worst.message}` };
  return phase.verdict === "pass"
    ? { ...judged, verdict: "warn", message: `${worst.check}: ${worst.message}` }
    : judged;
}
