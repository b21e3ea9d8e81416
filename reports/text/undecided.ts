import { groupBy } from "../../src/core/index.ts";
import type { CheckResult, Status, UndecidedReason } from "../../src/record/index.ts";
import { describeResponse } from "./response.ts";

/** Why nothing could be decided, as a sentence. */
export function describeUndecided(reason: UndecidedReason): string {
  switch (reason.kind) {
    case "missing-preconditions":
      return describeMissing(reason.missing);
    case "declared-gap":
      return `${reason.about}: ${reason.why}`;
    case "precondition-not-met":
      return `precondition not met: ${reason.text}`;
    case "control-not-served":
      return `${reason.what} was not served: ${describeResponse(reason.response)}`;
    case "gateway-stopped":
      return `not judged: the gateway stopped responding${reason.after === undefined ? "" : ` after ${reason.after}`}`;
    case "outage":
      return `not judged: ${reason.text}`;
    case "over-budget":
      return `not run: it needs ${reason.needs}`;
    case "not-reached":
      return "the run ended before this check";
    case "nothing-to-judge":
      return "no request was sent that this check could judge";
    case "no-response":
      return `no response: ${reason.how}`;
    case "size-bound":
      return `the response is larger than Gauntlet records${reason.detail === undefined ? "" : ` (${reason.detail})`}`;
    case "generator-late":
      return `Gauntlet was delayed by ${Math.round(reason.lagMs)} ms during this check (limit ${reason.boundMs} ms), so its timing cannot be judged. Run it again on a quieter machine.`;
    case "machine-busy":
      return `this machine was too busy to judge timing: ${reason.problems.join("; ")}. Repeat the run on a quieter machine, or with less load`;
    case "suite-error":
      return `error in your suite${reason.place === undefined ? "" : `, ${reason.place}`}: ${reason.text}`;
    case "open":
      return reason.text;
  }
}

/** `the target file has no keys.revoked or keys.empty`, `keys.capped cannot be used: it was denied`. */
function describeMissing(missing: readonly { readonly name: string; readonly why?: string | undefined }[]): string {
  const absent = missing.filter(({ why }) => why === undefined).map(({ name }) => inTargetFile(name));
  const unusable = missing.flatMap(({ name, why }) => (why === undefined ? [] : [{ name: inTargetFile(name), why }]));
  return [
    ...(absent.length === 0 ? [] : [`the target file has no ${listed(absent)}`]),
    ...unusable.map(({ name, why }) => `${name} cannot be used: ${why}`),
  ].join("; ");
}

/** `keys.a, no keys.b and no models.c`: all of them are missing. */
const listed = ([first = "", ...others]: readonly string[]): string =>
  others.reduce((text, name, index) => `${text}${index === others.length - 1 ? " and" : ","} no ${name}`, first);

/** Preconditions that are not a name in the target file. */
const DESCRIBED: Readonly<Record<string, string>> = {
  "model.plain": "model that is served (models.chat or models.messages)",
  "limited.rate": "account for rate limits (limited)",
  "limited.rate.second": "second key of that account (second)",
  "limited.concurrency": "account for concurrency limits (limited)",
  "limited.concurrency.second": "second key of that account (second)",
  "upstream.failover": "upstream with a second provider (upstream)",
};

/** `key.revoked` is `keys.revoked` in the target file. */
function inTargetFile(need: string): string {
  const described = DESCRIBED[need];
  if (described !== undefined) return described;
  const [kind = "", ...rest] = need.split(".");
  return ["key", "model"].includes(kind) && rest.length > 0 ? `${kind}s.${rest.join(".")}` : need;
}

/** Results of one status with one reason. */
export interface UndecidedGroup {
  readonly status: Status;
  /** The reason as a sentence. */
  readonly sentence: string;
  readonly results: readonly [CheckResult, ...CheckResult[]];
}

/** Results without a cause, grouped by status and reason, in the order of their first occurrence. */
export function groupUndecided(results: readonly CheckResult[]): UndecidedGroup[] {
  const groups = groupBy(results, ({ status, reason, message }) =>
    JSON.stringify([status, reason === undefined ? message : withoutMeasures(reason)]),
  );
  return [...groups.values()].map((group) => ({ status: group[0].status, sentence: group[0].message, results: group }));
}

/** A reason without measured values, which differ from result to result. */
const withoutMeasures = (reason: UndecidedReason): unknown => (OF_MACHINE.includes(reason.kind) ? reason.kind : reason);

/** Reasons of the machine, not of one check. */
const OF_MACHINE: readonly UndecidedReason["kind"][] = ["generator-late", "machine-busy"];
