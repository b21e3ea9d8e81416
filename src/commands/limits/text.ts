import { formatCount, formatRounded, groupBy } from "../../core/index.ts";
import type { LimitsAnalysis } from "../../load/index.ts";
import type { CommandResult } from "../../run/record/index.ts";
import type { Limits } from "../../target/index.ts";

type Inferred = { readonly value: unknown; readonly confidence: string; readonly evidence: string };

interface LimitsHead {
  readonly declared: Limits | undefined;
  /** Requests that the analysis was allowed to send. */
  readonly budget: number;
  readonly exitCode: number;
  /** The signal that ended the analysis. */
  readonly signal: string | undefined;
}

/** The results of the analysis, one per line, each with its confidence and evidence. */
export function describeLimits(
  analysis: LimitsAnalysis,
  { declared, budget, exitCode, signal }: LimitsHead,
): CommandResult {
  const { rate, concurrency, spent } = analysis;
  const per = (what: string) => (value: unknown) =>
    what === "account"
      ? `${value === "separate" ? "other accounts are not affected" : "shared with other accounts"}`
      : `${value}`;
  const lines: [string, Inferred, (value: unknown) => string][] = [
    ["kind", rate.kind, String],
    ["rate", rate.perMinute, (value) => `${figure(value)} per minute${declaredNote(declared?.rpm, value)}`],
    ["burst", rate.burst, (value) => `${figure(value)} requests`],
    ["denied count", rate.deniedCount, String],
    ["listing counts", rate.listingCounts, String],
    ["second key", rate.scopes.key, per("key")],
    ["other dialect", rate.scopes.dialect, per("dialect")],
    ["other model", rate.scopes.model, per("model")],
    ["other account", rate.scopes.account, per("account")],
    ["in flight", concurrency.inFlight, (value) => `${figure(value)}${declaredNote(declared?.inFlight, value)}`],
    ["after a response", concurrency.freedAtEnd, (value) => `capacity free again ${value}`],
    ["after disconnect", concurrency.freedOnDisconnect, (value) => `capacity free again ${value}`],
  ];
  const unknown = groupBy(
    lines.filter(([, { value }]) => value === null),
    ([, { evidence }]) => evidence,
  );
  const shared = [...unknown].filter(([, { length }]) => length > 1);
  const isShared = ({ value, evidence }: Inferred) =>
    value === null && shared.some(([sharedEvidence]) => sharedEvidence === evidence);
  const rendered = [
    // A reason that several results share is printed once.
    ...shared.flatMap(([evidence, some]) => row("cannot tell", some.map(([name]) => name).join(", "), evidence)),
    ...lines.flatMap(([name, found, text]) => {
      const { value, confidence, evidence } = found;
      if (isShared(found)) return [];
      return row(name, value === null ? "cannot tell" : `${text(value)}  (confidence ${confidence})`, evidence);
    }),
    `${formatCount(spent.requests, "request")} in ${spent.minutes.toFixed(1)} minutes`,
  ];
  return { exitCode, body: `${rendered.join("\n")}\n`, sentence: sentenceOf(analysis, { budget, signal }) };
}

function row(name: string, result: string, evidence: string): string[] {
  return [`${name.padEnd(18)} ${result}`, `${"".padEnd(18)}   ${evidence}`];
}

/** What decided the verdict. */
function sentenceOf(
  { rate, concurrency, cut }: LimitsAnalysis,
  { budget, signal }: Pick<LimitsHead, "budget" | "signal">,
): string {
  const { value, evidence } = rate.perMinute;
  const missing = value === null ? "limit not found" : "not every limit found";
  if (signal !== undefined) return `interrupted by ${signal} before every limit was found`;
  if (cut === "interrupted") return "interrupted before every limit was found";
  if (cut === "requests") return `${missing} within the budget of ${formatCount(budget, "request")}`;
  if (cut === "minutes") return "the time ran out before every limit was found. Increase --minutes";
  if (value === null) return `the rate limit is not known: ${evidence}`;
  const inFlight = concurrency.inFlight.value;
  return `rate limit ${figure(value)} per minute${inFlight === null ? "" : `, concurrency limit ${figure(inFlight)}`}`;
}

/** A rate may have decimals. */
const figure = (value: unknown): string => (typeof value === "number" ? formatRounded(value, 3) : String(value));

function declaredNote(declared: number | undefined, value: unknown): string {
  if (declared === undefined || typeof value !== "number") return "";
  return Math.abs(value - declared) <= declared * 0.03 ? ", as declared" : `, declared ${figure(declared)}`;
}
