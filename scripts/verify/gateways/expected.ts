import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import type { CheckResult } from "../../../src/record/index.ts";
import { TIMING } from "../evaluate.ts";

const expectation = z.strictObject({
  check: z.string(),
  /** What stands in the brackets of an instance; left out: every instance that was judged. */
  cases: z.array(z.string()).min(1).optional(),
  /** One sentence: why it is a true statement about this gateway. */
  why: z.string(),
  /** In some runs only, and why not in all. */
  sometimes: z.string().optional(),
});

const schema = z.strictObject({ fail: z.array(expectation), warn: z.array(expectation) });

type ExpectedResult = z.infer<typeof expectation>;
export type Expected = z.infer<typeof schema>;

/** What an example says that a run shows. @throws for a file that says it wrongly. */
export function readExpected(file: string): Expected {
  return schema.parse(existsSync(file) ? parse(readFileSync(file, "utf8")) : { fail: [], warn: [] });
}

export interface Compared {
  /** Instances that fail, and are known to. */
  readonly failures: number;
  readonly warnings: number;
  /** What is otherwise than expected. */
  readonly problems: readonly string[];
  /** Warnings about time alone that are not expected: a machine that several gateways share can cause them. */
  readonly late: readonly string[];
}

const JUDGED: ReadonlySet<string> = new Set(["pass", "fail", "warn", "observed", "flaky"]);

/** Holds the results of a run against what is known of the gateway. Pure. */
export function compareWith({ fail, warn }: Expected, results: readonly CheckResult[]): Compared {
  const problems = results
    .filter(({ status }) => status === "harness-error")
    .map(({ id, message }) => `${id}: an error of ours: ${message}`);
  const kinds = [
    ["fail", fail],
    ["warn", warn],
  ] as const;
  const late: string[] = [];
  for (const [status, expectations] of kinds) {
    for (const result of results) {
      if (result.status !== status || expectations.some((one) => meant(one, result))) continue;
      if (status === "warn" && isAboutTime(result)) late.push(`${result.id}: ${result.message}`);
      else problems.push(`${result.id}: ${status}, which is not expected: ${result.message}`);
    }
    for (const one of expectations) problems.push(...missed(one, status, results));
  }
  const count = (wanted: string) => results.filter(({ status }) => status === wanted).length;
  return { failures: count("fail"), warnings: count("warn"), problems, late };
}

/** Whether all that a result holds against the gateway is how long something took. */
function isAboutTime({ findings = [] }: CheckResult): boolean {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  return (
    broken.length > 0 &&
    broken.every(
      ({ basis, requirements, note }) =>
        basis === "timing" ||
        requirements.every((requirement) => TIMING.includes(requirement)) ||
        /^ms\b/.test(note ?? ""),
    )
  );
}

const caseOf = ({ id }: CheckResult) => /\[(.*)\]$/.exec(id)?.[1] ?? "";

function meant({ check, cases }: ExpectedResult, result: CheckResult): boolean {
  return result.check === check && (cases === undefined || cases.includes(caseOf(result)));
}

/** Instances that should have this status and have another. */
function missed(one: ExpectedResult, status: string, results: readonly CheckResult[]): string[] {
  const instances = results.filter((result) => meant(one, result));
  const wanted = one.cases?.length ?? 1;
  if (instances.length < wanted) return [`${one.check}: expected, and there is no such check`];
  if (one.sometimes !== undefined) return [];
  const looked = one.cases === undefined ? instances.filter((result) => JUDGED.has(result.status)) : instances;
  if (looked.length === 0) return [`${one.check}: expected to ${status}, and was not judged`];
  return looked
    .filter((result) => result.status !== status)
    .map((result) => `${result.id}: expected to ${status}, and is ${result.status}: ${result.message}`);
}
