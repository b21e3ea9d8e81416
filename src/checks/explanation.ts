import { type Requirement, requirementOf } from "../requirements/index.ts";
import { type Check, instancesOf } from "./check.ts";
import type { Need } from "./need.ts";
import { unblockLines } from "./static-fixture.ts";

/** What to say about a check, both in the terminal and in `docs/checks.md`. */
export interface Explanation {
  readonly id: string;
  readonly title: string;
  readonly layer: string;
  readonly instances: readonly string[];
  /** How it decides, and what a failure means. */
  readonly text: string;
  /** The severity of a failure, and what to do about it. */
  readonly onFailure: string;
  readonly needs: readonly { readonly need: Need; readonly lines: readonly string[] }[];
  readonly requirements: readonly Requirement[];
}

export function explanationOf(check: Check): Explanation {
  const requirements = check.covers.map(requirementOf);
  const needs = check.kind === "sending" ? (check.needs ?? []) : [];
  return {
    id: check.id,
    title: check.title,
    layer: check.layer,
    instances: instancesOf(check).map(({ id }) => id),
    text: check.explains,
    onFailure: onFailure(check, requirements),
    needs: needs.map((need) => ({ need, lines: unblockLines(need) })),
    requirements,
  };
}

function onFailure(check: Check, requirements: readonly Requirement[]): string {
  const severity = requirements.some(({ level, layer }) => level === "MUST" && layer !== "compat")
    ? "A broken MUST fails the run; a SHOULD warns; an OPEN requirement is observed and never counts."
    : requirements.every(({ level }) => level === "OPEN")
      ? "It observes only: nothing it sees counts against a gateway."
      : "It warns, and fails the run only where a policy says so.";
  const how =
    check.kind === "invariant"
      ? "It looks at what the other checks sent, so run it together with them; the report names the exchange and prints it as a curl line."
      : `The report names the exchange and prints it as a curl line; \`gauntlet conform --only ${check.id}\` sends it again.`;
  return `${severity} ${how}`;
}
