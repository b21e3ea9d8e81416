import { figures, terminalTable } from "../../../reports/index.ts";
import { EXIT, formatCount, formatNumber, formatRounded } from "../../core/index.ts";
import { mostDenied, type Sizing } from "../../load/index.ts";
import type { CommandResult } from "../../run/record/index.ts";
import type { Limits } from "../../target/index.ts";
import type { SizeOptions, Verified } from "./sizing-options.ts";

interface SizeHead {
  readonly sizing: Sizing;
  /** `undefined` without `--verify`: a prediction alone has no verdict. */
  readonly verified: Verified | undefined;
  readonly options: Pick<SizeOptions, "ttftMs" | "tokensPerS">;
  readonly exitCode: number;
}

/** A sizing: what the workload sends, and the smallest tier for it. */
export function describeSizing({ sizing, verified, options, exitCode }: SizeHead): CommandResult {
  const { requests, spanS, peakPerMinute, meanInFlight, peakInFlight, littleInFlight, meanDurationMs } = sizing;
  const lines = [
    `${formatCount(requests, "request")} in ${formatNumber(spanS)} s (${rateText(requests / spanS)}/s); busiest minute: ${formatNumber(peakPerMinute)}`,
    `in flight: ${formatNumber(meanInFlight, 1)} on average, ${formatNumber(peakInFlight)} at most (Little's law: ${formatNumber(littleInFlight, 1)}; mean duration ${formatNumber(meanDurationMs)} ms)`,
    `assumed: first token after ${formatNumber(options.ttftMs)} ms, ${rateText(options.tokensPerS)} tokens per second`,
    `allowed: ${sizing.allowedDeniedShare === 0 ? "no denials" : `up to ${percent(sizing.allowedDeniedShare)} of the requests denied`} (allow.deniedShare of the workload)`,
    "denied, by kind of limiter:",
    tierTable(sizing),
    ...sustainedRate(sizing),
  ];
  const [prediction, ...more] = smallestTier(sizing);
  if (verified === undefined) return { exitCode, body: `${lines.join("\n")}\n`, prediction, sentence: more.join("\n") };
  lines.push([prediction, ...more].join("\n  "), verifiedText(verified));
  return { exitCode, body: `${lines.join("\n")}\n`, sentence: sentenceOf(verified, exitCode) };
}

function tierTable({ tiers, allowedDeniedShare }: Sizing): string {
  const kinds = Object.keys(tiers[0]?.denied ?? {});
  const rows = tiers.map((tier) => [
    tier.tier,
    limitsText(tier.limits),
    fitText(tier, allowedDeniedShare),
    ...Object.values(tier.denied).map(({ share }) => percent(share)),
  ]);
  return terminalTable(["tier", "limits", "verdict", ...figures(...kinds)], rows);
}

/** `fits`, `too small`, or with which limiters it fits. */
function fitText(tier: Sizing["tiers"][number], allowedShare: number): string {
  const { denied, fits } = tier;
  if (fits === "no") return "too small";
  const most = mostDenied(tier);
  if (fits === "yes") return most === 0 ? "fits" : `fits, with up to ${percent(most)} denied`;
  const strict = Object.entries(denied).filter(([, { share }]) => share > allowedShare);
  if (strict.length === 1 && strict[0]?.[0] === "even pace") return "fits, unless requests must be evenly spaced";
  const lenient = Object.entries(denied).filter(([, { share }]) => share <= allowedShare);
  return `fits only with a ${lenient.map(([kind]) => kind).join(" or ")}`;
}

/** `smallest tier: scale`, `growth would deny up to 58.3 % of the requests`, and under which conditions another tier is needed. */
function smallestTier(sizing: Sizing): readonly [string, ...string[]] {
  const { needs, needsAtAnyPace, needsWithoutDenials, tiers, continuous } = sizing;
  const at = needs === null ? tiers.length : tiers.findIndex(({ tier }) => tier === needs);
  const smaller = tiers[at - 1];
  const name = (tier: string | null) => tier ?? "none (custom limits are needed)";
  const perMinute = Math.ceil(Math.max(sizing.peakPerMinute, continuous?.perMinute ?? 0));
  // Limits count per minute, and a short workload may fit into a tier that could not sustain it.
  const sustained = isLargerIfSustained(sizing)
    ? ` for these ${formatNumber(sizing.spanS)} s; to sustain the rate: ${name(continuous?.needs ?? null)}`
    : "";
  return [
    `smallest tier: ${name(needs)}${sustained}`,
    ...(needsAtAnyPace === needs ? [] : [`if requests must be evenly spaced: ${name(needsAtAnyPace)}`]),
    ...(needs === null
      ? [`limits that admit all of it: ${limitsText({ rpm: perMinute, inFlight: sizing.peakInFlight })}`]
      : []),
    ...(smaller === undefined
      ? []
      : [`${smaller.tier} would deny up to ${percent(mostDenied(smaller))} of the requests`]),
    ...(needs === needsWithoutDenials ? [] : [`to deny nothing: ${name(needsWithoutDenials)}`]),
  ];
}

const isLargerIfSustained = ({ continuous, needs }: Sizing): boolean =>
  continuous !== undefined && continuous.needs !== needs;

function sustainedRate(sizing: Sizing): string[] {
  const { spanS, continuous } = sizing;
  if (continuous === undefined || !isLargerIfSustained(sizing)) return [];
  return [
    `the workload lasts ${formatNumber(spanS)} s, but limits count per minute: sustained, its rate would be ${formatNumber(continuous.perMinute)} requests/min`,
  ];
}

function verifiedText({ account, limits, requests, deniedShare, predicted: [low, high] }: Verified): string {
  return `verified on ${account} (${limitsText(limits)}): ${percent(deniedShare)} of ${formatCount(requests, "request")} denied; predicted with the measured durations: ${percent(low)} to ${percent(high)}`;
}

/** What decided the verdict. */
function sentenceOf({ broken, undecided, agrees }: Verified, exitCode: number): string {
  if (exitCode === EXIT.interrupted || exitCode === EXIT.terminated) return "interrupted before the run ended";
  if (broken !== null) return broken;
  if (undecided !== null) return `the prediction was not tested: ${undecided}`;
  return agrees
    ? "the share of denials agrees with the prediction"
    : "the share of denials differs from the prediction";
}

const limitsText = ({ rpm, inFlight }: Limits): string =>
  `${formatNumber(rpm)}/min, ${formatNumber(inFlight)} in flight`;

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;

const rateText = (perS: number): string => formatRounded(perS, 1);
