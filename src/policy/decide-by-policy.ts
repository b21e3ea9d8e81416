import { EXIT } from "../core/index.ts";
import type { Gate, PolicySection, RunVerdict } from "../record/index.ts";

/**
 * Applies a policy to a verdict. A failed gate of level `error` fails the run; one that could not be decided keeps it from
 * passing; `warn` is listed after the result. A policy never improves a verdict.
 */
export function decideByPolicy(verdict: RunVerdict, section: PolicySection): RunVerdict {
  const of = (level: Gate["level"], outcome: Gate["outcome"]) =>
    section.gates.filter((gate) => gate.level === level && gate.outcome === outcome);
  const failed = of("error", "fail");
  const open = of("error", "inconclusive");
  const warned = [...of("warn", "fail"), ...of("warn", "inconclusive")];
  const result =
    failed.length > 0 ? "fail" : open.length > 0 && verdict.result === "pass" ? "inconclusive" : verdict.result;
  const interrupted = verdict.exitCode === EXIT.interrupted || verdict.exitCode === EXIT.terminated;
  const decisive = result === "fail" ? failed : open;
  const gates = decisive.map(({ gate, outcome, message }) => ({
    kind: "gate" as const,
    text: `gate ${outcome}: ${gate}: ${message}`,
  }));
  const qualifiers = [
    ...verdict.qualifiers,
    ...(warned.length === 0 ? [] : [`${warned.length === 1 ? "1 gate warns" : `${warned.length} gates warn`}`]),
  ];
  return {
    result,
    exitCode:
      interrupted || result === verdict.result
        ? verdict.exitCode
        : result === "fail"
          ? EXIT.gateFailed
          : EXIT.inconclusive,
    headline: withResult(verdict, result) + describeGates(failed, open, warned),
    // The run's own reasons come first, unless a gate overrode its pass.
    reasons: verdict.result === "pass" ? gates : [...verdict.reasons, ...gates],
    qualifiers,
  };
}

/** The headline with another result, which is its first word. */
function withResult({ result: before, headline }: RunVerdict, result: RunVerdict["result"]): string {
  return result.toUpperCase() + headline.slice(before.length);
}

function describeGates(failed: readonly Gate[], open: readonly Gate[], warned: readonly Gate[]): string {
  const parts = [
    ...(failed.length === 0 ? [] : [`${failed.length} of the policy's gates failed`]),
    ...(open.length === 0 ? [] : [`${open.length} could not be decided`]),
    ...(warned.length === 0 ? [] : [`${warned.length} warned`]),
  ];
  return parts.length === 0 ? "" : `; ${parts.join(", ")}`;
}
