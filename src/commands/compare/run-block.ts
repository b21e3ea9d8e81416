import { type Block, countsOf } from "../../compare/index.ts";
import { onAbort } from "../../core/index.ts";
import { type LoadContext, planOf, type RanLoad, runWorkload, type Workload } from "../../load/index.ts";
import { QUANTILES } from "./block-size.ts";

interface BlockContext
  extends Pick<LoadContext, "target" | "budget" | "seed" | "redactor" | "stop" | "abort" | "onProgress"> {
  readonly workload: Workload;
}

/** Sends one block of open-loop load. */
export async function runBlock({ workload, stop, abort, ...context }: BlockContext): Promise<Block> {
  // Separate signals: the listeners of blocks must not pile up on those of the session.
  const [ending, ended] = [new AbortController(), new AbortController()];
  using _stopping = onAbort(stop, () => ending.abort());
  using _aborting = onAbort(abort, () => ended.abort());
  // The thresholds judge a run, not one block of many: none may end a block early.
  const { thresholds: _, ...load } = workload;
  const ran = await runWorkload(load, {
    ...context,
    keys: [context.target.keys.valid],
    stop: ending.signal,
    abort: ended.signal,
    onSample: () => {},
    calibration: null,
  });
  return blockOf(ran);
}

const FIGURES: Readonly<Record<string, string>> = {
  response: "response_ms",
  ttft: "ttft_ms",
  eventGap: "event_gap_ms",
};
/** Duration of a block with its warm-up, seconds; `undefined` if only the number of requests ends it. */
export function durationOf({ arrivals }: Workload): number | undefined {
  return arrivals === undefined ? undefined : planOf(arrivals).durationS;
}

function blockOf({ run, histograms }: RanLoad): Block {
  const tokens: Record<string, { tokens: number; replies: number }> = {};
  const quantiles: Record<string, number | null> = {};
  for (const { tag, histogram } of histograms) {
    // Tags end in dialect, mode, outcome and figure.
    const [dialect, mode, outcome, figure = ""] = tag.split(".").slice(-4);
    const name = FIGURES[figure];
    if (outcome !== "admitted" || name === undefined) continue;
    for (const [stat, share, least] of QUANTILES) {
      quantiles[`${dialect} ${mode} ${name} ${stat}`] =
        histogram.count < least ? null : histogram.quantileUs(share) / 1_000;
    }
  }
  for (const { dialect, stream, outcome, count, outputTokens } of run.phases.flatMap(({ classes }) => classes)) {
    if (outcome !== "admitted") continue;
    const name = `${dialect} ${stream ? "streaming" : "non-streaming"}`;
    const known = tokens[name] ?? { tokens: 0, replies: 0 };
    tokens[name] = { tokens: known.tokens + outputTokens, replies: known.replies + count };
  }
  const sum = (read: (phase: RanLoad["run"]["phases"][number]) => number) =>
    run.phases.reduce((total, phase) => total + read(phase), 0);
  return {
    quantiles,
    tokensPerReply: Object.fromEntries(
      // A sum of 0 means that the tokens were not counted.
      Object.entries(tokens).flatMap(([name, { tokens: all, replies }]) => (all === 0 ? [] : [[name, all / replies]])),
    ),
    sent: sum(({ sent }) => sent),
    counts: countsOf((what) => sum((phase) => phase[what])),
    problems: run.generator.problems,
  };
}
