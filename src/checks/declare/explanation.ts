import type { AnyRequirement } from "../../requirements/index.ts";
import { unblockLines } from "../fixtures/static-fixture.ts";
import { type Check, instancesOf } from "./check.ts";
import type { Need } from "./need.ts";

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
  readonly requirements: readonly AnyRequirement[];
}

/** @param options command-line options that are needed to find the check, such as `--suite own.ts`. */
export function explanationOf(check: Check, options: readonly string[] = []): Explanation {
  const { requirements } = check;
  const needs = check.kind === "sending" ? (check.needs ?? []) : [];
  return {
    id: check.id,
    title: check.title,
    layer: check.layer,
    instances: instancesOf(check).map(({ id }) => id),
    text: check.explains,
    onFailure: onFailure(check, requirements, options),
    needs: needs.map((need) => ({ need, lines: unblockLines(need) })),
    requirements,
  };
}

function onFailure(check: Check, requirements: Explanation["requirements"], options: readonly string[]): string {
  const severity = requirements.some(({ level, layer }) => level === "MUST" && layer !== "compat")
    ? "A violated MUST fails the run, a violated SHOULD is a warning, and an OPEN requirement is only observed."
    : requirements.every(({ level }) => level === "OPEN")
      ? "It only observes: its findings never count against a gateway."
      : "A failure is a warning; it fails the run only if a policy says so.";
  const how =
    check.kind === "invariant"
      ? "It judges the traffic of the other checks, so run it together with them. The report names the exchange and prints it as a curl command."
      : `The report names the exchange and prints it as a curl command; \`gauntlet conform ${["--only", check.id, ...options].join(" ")}\` sends it again.`;
  return `${severity} ${how}`;
}
