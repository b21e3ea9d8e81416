import { groupUndecided } from "../../reports/text/index.ts";
import { EXIT, type ExitCode, formatCount } from "../core/index.ts";
import { causesOf } from "../judging/index.ts";
import { type CheckResult, explainedBy, lacksFixture, type RunVerdict, type Status } from "../record/index.ts";

export interface Circumstances {
  readonly targetName: string;
  /** Its address; absent if what is judged has none, such as a client program. */
  readonly baseUrl?: string | undefined;
  /** Declared gaps, contract, waivers: what the result alone would hide. */
  readonly qualifiers: readonly string[];
  /** What fails the run besides its checks: waivers that no longer cover anything, and the like. */
  readonly breaches?: readonly { readonly text: string; readonly check?: string }[];
  /** Set if a signal interrupted the run. */
  readonly interruptedBy?: "SIGINT" | "SIGTERM" | undefined;
  /** Why the run ended early, other than by a signal: what is missing may have been anything. */
  readonly cutOff?: string | undefined;
}

type Result = RunVerdict["result"];

const RESULTS: Readonly<Partial<Record<Status, Result>>> = {
  "harness-error": "error",
  fail: "fail",
  flaky: "fail",
  blocked: "inconclusive",
  inconclusive: "inconclusive",
};

/** Maximum number of reasons that a verdict lists; the others are counted. */
const MAX_REASONS = 20;

/**
 * The verdict of a run. A violated MUST decides before anything else, because it is true whatever else went wrong. A run in
 * which nothing was judged is inconclusive, not a pass.
 */
export function decide(
  results: readonly CheckResult[],
  { targetName, baseUrl, qualifiers, breaches = [], interruptedBy, cutOff }: Circumstances,
): RunVerdict {
  // A waived failure remains a failure in the report and decides nothing.
  const deciders = results.filter(({ waived }) => waived === undefined);
  const of = (...statuses: Status[]) => deciders.filter(({ status }) => statuses.includes(status));
  // A failure decides the verdict even if a suite has an error, but the error is still listed.
  const wrong = [...of("fail", "flaky"), ...of("harness-error")];
  const deciding = wrong.length > 0 ? wrong : of("blocked", "inconclusive");
  const [first] = deciding;
  // A waived failure was judged, too.
  const judged = of("pass", "warn").length > 0 || deciders.length < results.length;
  const judgedResult = first === undefined ? (judged ? "pass" : "inconclusive") : (RESULTS[first.status] ?? "error");
  const found = breaches.length > 0 ? "fail" : judgedResult;
  const isCut = interruptedBy !== undefined || cutOff !== undefined;
  // A violated MUST is true however the run ended; anything else may be an effect of the early end.
  const result = isCut && found !== "fail" ? "inconclusive" : found;
  const decisive = reasonsOf(deciding, cutOff, results);
  const reasons: Reason[] = [
    ...(cutOff === undefined ? [] : [{ kind: "run", text: cutOff } as const]),
    ...breaches.map(({ text, check }): Reason => ({ kind: "waiver", text, ...(check === undefined ? {} : { check }) })),
    ...decisive.slice(0, MAX_REASONS),
  ];
  const more = decisive.length - MAX_REASONS;
  if (more > 0) reasons.push({ kind: "more", text: `and ${more} more`, count: more });
  if (reasons.length === 0 && result === "inconclusive") reasons.push({ kind: "run", text: "nothing was judged" });
  const tail = qualifiers.length === 0 ? "" : ` (${qualifiers.join("; ")})`;
  return {
    result,
    exitCode:
      interruptedBy === undefined
        ? exitCodeOf(result)
        : interruptedBy === "SIGINT"
          ? EXIT.interrupted
          : EXIT.terminated,
    headline: `${result.toUpperCase()}: ${nameWithAddress(targetName, baseUrl)}${tail}${interruptedBy === undefined ? "" : `, interrupted by ${interruptedBy}`}${cutOff === undefined ? "" : ", cut off"}`,
    reasons,
    qualifiers: [...qualifiers],
  };
}

type Reason = RunVerdict["reasons"][number];

/**
 * One reason for each cause of a failure, with the first check that it explains; then the results without a cause.
 *
 * @param cutOff the same sentence is not repeated as a cause. @param all results of the run, for the share that passed.
 */
function reasonsOf(
  deciding: readonly CheckResult[],
  cutOff: string | undefined,
  all: readonly CheckResult[],
): Reason[] {
  const causes = causesOf(deciding).filter(({ weight }) => weight === "fail");
  const explained = explainedBy(causes);
  const lacking = deciding.filter(lacksFixture);
  return [
    ...lackingText(lacking, all),
    ...causes
      .filter(({ title }) => title !== cutOff)
      .map(
        ({ title, checks: [first = "", ...more] }): Reason => ({
          kind: "cause",
          text: `fail: ${title}${instances(more.length + 1)}`,
          check: first,
        }),
      ),
    ...groupUndecided(deciding.filter((one) => !explained.has(one.id) && !lacking.includes(one))).map(
      ({ status, sentence, results: [{ id }, ...more] }): Reason => ({
        kind: "checks",
        text: `${status}: ${sentence}${instances(more.length + 1)}`,
        check: id,
      }),
    ),
  ];
}

/** One reason for everything that the target file lacks: its parts are listed above the verdict, and by `doctor`. */
function lackingText([first, ...more]: readonly CheckResult[], all: readonly CheckResult[]): Reason[] {
  if (first === undefined) return [];
  const canRun = all.filter((one) => !lacksFixture(one) && one.status !== "not-applicable");
  const passed = canRun.filter(({ status }) => status === "pass").length;
  const lack = `${formatCount(more.length + 1, "other")} ${more.length === 0 ? "needs" : "need"}`;
  const text = `${passed} of ${formatCount(canRun.length, "check instance")} that can run passed; ${lack} keys, models or accounts that the target file does not name. Run \`gauntlet doctor\` to list them, or \`gauntlet init --accept-gaps\` to declare them unavailable`;
  return [{ kind: "checks", text, check: first.id }];
}

const instances = (count: number): string => (count === 1 ? "" : ` (${count} check instances)`);

/** Name and address, so that a verdict cannot be mistaken for that of another gateway. */
export function nameWithAddress(name: string, baseUrl: string | undefined): string {
  return baseUrl === undefined ? name : `${name} at ${baseUrl}`;
}

function exitCodeOf(result: Result): ExitCode {
  switch (result) {
    case "pass":
      return EXIT.pass;
    case "fail":
      return EXIT.gateFailed;
    case "inconclusive":
      return EXIT.inconclusive;
    case "error":
      return EXIT.internal;
  }
}
