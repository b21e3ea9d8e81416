import type { LimitsAnalysis } from "../load/index.ts";
import type { Limits } from "../target/index.ts";

type Inferred = { readonly value: unknown; readonly confidence: string; readonly evidence: string };

/** The results of the analysis, one per line, each with its confidence and evidence. */
export function renderLimits(
  analysis: LimitsAnalysis,
  { declared, budget }: { readonly declared: Limits | undefined; readonly budget: number },
): string {
  const { rate, concurrency, spent, cut } = analysis;
  const per = (what: string) => (value: unknown) =>
    what === "account"
      ? `${value === "separate" ? "other accounts are not affected" : "shared with other accounts"}`
      : `${value}`;
  const lines: [string, Inferred, (value: unknown) => string][] = [
    ["kind", rate.kind, String],
    ["rate", rate.perMinute, (value) => `${value} per minute${said(declared?.rpm, value)}`],
    ["burst", rate.burst, (value) => `${value} at once`],
    ["denied count", rate.deniedCount, String],
    ["listing counts", rate.listingCounts, String],
    ["second key", rate.scopes.key, per("key")],
    ["other dialect", rate.scopes.dialect, per("dialect")],
    ["other model", rate.scopes.model, per("model")],
    ["other account", rate.scopes.account, per("account")],
    ["in flight", concurrency.inFlight, (value) => `${value}${said(declared?.inFlight, value)}`],
    ["after the end", concurrency.freedAtEnd, (value) => `admitted again ${value}`],
    ["after disconnect", concurrency.freedOnDisconnect, (value) => `admitted again ${value}`],
  ];
  const rendered = lines.flatMap(([name, { value, confidence, evidence }, text]) => [
    `${name.padEnd(18)} ${value === null ? "cannot tell" : `${text(value)}  (confidence ${confidence})`}`,
    `${"".padEnd(18)}   ${evidence}`,
  ]);
  const end = `${spent.requests} requests in ${spent.minutes.toFixed(1)} minutes${cut === null ? "" : `; cut short: ${cut}`}`;
  const open = cut === "requests" ? [`limit not found within the budget of ${budget} requests`] : [];
  return `${[...rendered, ...open, end].join("\n")}\n`;
}

function said(declared: number | undefined, value: unknown): string {
  if (declared === undefined || typeof value !== "number") return "";
  return Math.abs(value - declared) <= declared * 0.03 ? ", as declared" : `, declared ${declared}`;
}
