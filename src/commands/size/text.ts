import { EXIT, formatCount, formatNumber, formatRounded } from "../../core/index.ts";
import type { Sizing } from "../../load/index.ts";
import type { Colors } from "../../run/control/index.ts";
import { withVerdict } from "../../run/record/index.ts";
import type { Limits } from "../../target/index.ts";
import type { SizeOptions, Verified } from "./sizing-options.ts";

interface SizeHead {
  readonly sizing: Sizing;
  /** `undefined` without `--verify`: a prediction alone has no verdict. */
  readonly verified: Verified | undefined;
  readonly options: Pick<SizeOptions, "ttftMs" | "tokensPerS">;
  readonly exitCode: number;
  /** Path of the report, if one was written. */
  readonly report: string | undefined;
}

/** A sizing for the terminal. */
export function renderSizing({ sizing, verified, options, exitCode, report }: SizeHead, colors: Colors): string {
  const { requests, spanS, peakPerMinute, meanInFlight, peakInFlight, littleInFlight, meanDurationMs } = sizing;
  const lines = [
    `${formatCount(requests, "request")} in ${formatNumber(spanS)} s (${rateText(requests / spanS)}/s); busiest minute: ${formatNumber(peakPerMinute)}`,
    `in flight: ${formatNumber(meanInFlight, 1)} on average, ${formatNumber(peakInFlight)} at most (Little's law: ${formatNumber(littleInFlight, 1)}; mean duration ${formatNumber(meanDurationMs)} ms)`,
    `assumed: first token after ${formatNumber(options.ttftMs)} ms, ${rateText(options.tokensPerS)} tokens per second`,
    `allowed: ${sizing.allowedDeniedShare === 0 ? "no denials" : `up to ${percent(sizing.allowedDeniedShare)} of the requests denied`} (allow.deniedShare of the workload)`,
    ...sizing.tiers.map((tier) => tierText(tier, sizing.allowedDeniedShare)),
    smallestTier(sizing),
    ...(verified === undefined ? [] : [verifiedText(verified)]),
  ];
  const body = `${lines.join("\n")}\n`;
  if (verified === undefined) return report === undefined ? body : `${body}report: ${report}\n`;
  return withVerdict(body, { exitCode, sentence: sentenceOf(verified, exitCode), report }, colors);
}

/** `starter (300/min, 64 in flight): fits. Denied, by kind of limiter: sliding window 0.0 %, …`. */
function tierText({ tier, limits, denied, fits }: Sizing["tiers"][number], allowedShare: number): string {
  const kinds = Object.entries(denied);
  const tooStrict = kinds.filter(([, { share }]) => share > allowedShare).map(([kind]) => kind);
  const isPaceOnly = tooStrict.length === 1 && tooStrict[0] === "even pace";
  const depends = isPaceOnly
    ? "fits unless the limiter enforces an even pace"
    : `too small with a limiter of this kind: ${tooStrict.join(", ")}`;
  const verdict = { yes: "fits", no: "too small", depends }[fits];
  const shares = kinds.map(([kind, { share }]) => `${kind} ${percent(share)}`).join(", ");
  return `${tier} (${limitsText(limits)}): ${verdict}. Denied, by kind of limiter: ${shares}`;
}

function smallestTier({ needs, needsAtAnyPace }: Sizing): string {
  const name = (tier: string | null) => tier ?? "none (custom limits are needed)";
  const paced = needsAtAnyPace === needs ? "" : ` (${name(needsAtAnyPace)}, if the limiter enforces an even pace)`;
  return `smallest tier: ${name(needs)}${paced}`;
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
