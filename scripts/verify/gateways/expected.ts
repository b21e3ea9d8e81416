import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import * as z from "zod";
import type { CheckResult } from "../../../src/record/index.ts";
import { TIMING } from "../judge/evaluate.ts";

const expectation = z.strictObject({
  check: z.string(),
  /** The part of an instance in brackets; omitted: every instance that was judged. */
  cases: z.array(z.string()).min(1).optional(),
  /** Names of the findings that it may be about; omitted: any. */
  findings: z.array(z.string()).min(1).optional(),
  /** One sentence: why this is a true statement about this gateway. */
  why: z.string(),
  /** Only in some runs; the reason why not in all. */
  sometimes: z.string().optional(),
});

const schema = z.strictObject({
  fail: z.array(expectation),
  warn: z.array(expectation),
  /** Reasons of the gateway's own denials that only say that a busy machine kept it from reaching its database. */
  unavailable: z.array(z.strictObject({ reason: z.string(), why: z.string() })).default([]),
});

type ExpectedResult = z.infer<typeof expectation>;
export type Expected = z.infer<typeof schema>;

/** What a run of the example is expected to show. @throws if the file is invalid. */
export function readExpected(file: string): Expected {
  return schema.parse(existsSync(file) ? parse(readFileSync(file, "utf8")) : { fail: [], warn: [] });
}

export interface Compared {
  /** Instances that are known to fail. */
  readonly failures: number;
  readonly warnings: number;
  /** Unexpected results. */
  readonly problems: readonly string[];
  /** Unexpected results that several gateways on one machine can cause: warnings about timing, and an unreachable database. */
  readonly leftOpen: readonly string[];
}

const JUDGED: ReadonlySet<string> = new Set(["pass", "fail", "warn", "observed", "flaky"]);

/** Compares the results of a run with what is known about the gateway. Pure. */
export function compareWith({ fail, warn, unavailable }: Expected, results: readonly CheckResult[]): Compared {
  const problems = results
    .filter(({ status }) => status === "harness-error")
    .map(({ id, message }) => `${id}: harness error: ${message}`);
  const kinds = [
    ["fail", fail],
    ["warn", warn],
  ] as const;
  const leftOpen: string[] = [];
  const reasons = unavailable.map(({ reason }) => reason);
  for (const [status, expectations] of kinds) {
    for (const result of results) {
      if (result.status !== status || expectations.some((one) => meant(one, result) && isCovered(one, result)))
        continue;
      const isOpen = (status === "warn" && isAboutTime(result)) || wasUnavailable(result, reasons);
      if (isOpen) leftOpen.push(`${result.id}: ${result.message}`);
      else problems.push(`${result.id}: ${status}, which is not expected: ${result.message}`);
    }
    for (const one of expectations) problems.push(...missed(one, status, results));
  }
  const count = (expected: string) => results.filter(({ status }) => status === expected).length;
  return { failures: count("fail"), warnings: count("warn"), problems, leftOpen };
}

/** Whether a result only blames the gateway for how long something took. */
function isAboutTime({ findings = [] }: CheckResult): boolean {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  return (
    broken.length > 0 &&
    broken.every(
      ({ basis, requirements, subject = "" }) =>
        basis === "timing" ||
        requirements.every((requirement) => TIMING.includes(requirement)) ||
        /^ms\b/.test(subject),
    )
  );
}

/** Whether all that a result blames the gateway for is that it could not reach its database. */
function wasUnavailable({ findings = [] }: CheckResult, reasons: readonly string[]): boolean {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  return broken.length > 0 && broken.every(({ response }) => reasons.includes(response?.reason ?? ""));
}

const caseOf = ({ id }: CheckResult) => /\[(.*)\]$/.exec(id)?.[1] ?? "";

function meant({ check, cases }: ExpectedResult, result: CheckResult): boolean {
  // The events of a load are an instance of one check: `load.kill.events`.
  const isMeant = result.check === check || result.id === check;
  return isMeant && (cases === undefined || cases.includes(caseOf(result)));
}

/** Whether an expectation names everything that a result blames the gateway for. */
function isCovered({ findings }: ExpectedResult, result: CheckResult): boolean {
  const broken = (result.findings ?? []).filter(({ outcome }) => outcome === "broken");
  return findings === undefined || broken.every(({ name }) => findings.includes(name ?? ""));
}

/** Instances that should have this status and have another. */
function missed(one: ExpectedResult, status: string, results: readonly CheckResult[]): string[] {
  const instances = results.filter((result) => meant(one, result));
  const expectedCount = one.cases?.length ?? 1;
  if (instances.length < expectedCount) return [`${one.check}: expected, but no such check exists`];
  if (one.sometimes !== undefined) return [];
  const looked = one.cases === undefined ? instances.filter((result) => JUDGED.has(result.status)) : instances;
  if (looked.length === 0) return [`${one.check}: expected to ${status}, and was not judged`];
  return looked
    .filter((result) => result.status !== status)
    .map((result) => `${result.id}: expected to ${status}, and is ${result.status}: ${result.message}`);
}
