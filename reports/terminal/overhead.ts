import type { AddedDifference, Frontier, OverheadLevel, RunRecord } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { differenceText, promptText } from "../figures/overhead-figures.ts";
import type { Colors } from "./options.ts";
import { figures, terminalTable } from "./table.ts";
import { paintedHeadline } from "./verdict-lines.ts";

type Arm = NonNullable<RunRecord["overhead"]>["arms"][number];

/** An overhead measurement for the terminal: a table for each gateway, the control, the verdict last. */
export function renderOverhead({ overhead, verdict }: RunRecord, colors: Colors): string {
  if (overhead === undefined) return "";
  const { arms, control, direct, ceilingPerS, rounds } = overhead;
  const lines = [
    colors.dim(`direct: ${oneLine(direct)}, at most ${ceilingPerS} requests/s; ${rounds} rounds`),
    ...arms.flatMap(({ name, levels, frontier, diagnoses = [], process }) => [
      colors.bold(oneLine(name, 80)),
      tableOf(levels),
      ...frontierLines(frontier),
      ...(process === undefined ? [] : [processLine(process)]),
      ...diagnoses.map((text) => colors.yellow(`▲ ${oneLine(text, 200)}`)),
    ]),
    colors.dim("Added milliseconds with their 95 % intervals: of whole responses, and of the first token of streams."),
    ...marksOf(arms.flatMap(({ levels }) => levels)).map((text) => colors.dim(text)),
    colors.dim(`direct against direct: ${oneLine(control.message, 200)}`),
    ...verdict.reasons.map(({ text }) => `  ${oneLine(text, 300)}`),
  ];
  return `${[...lines, paintedHeadline(verdict, colors)].join("\n")}\n`;
}

function tableOf(levels: readonly OverheadLevel[]): string {
  const columns = [
    ...figures("clients"),
    "request",
    ...figures("prompt", "p50", "p90", "p99", "TTFT p50", "gap p50", "requests/s"),
    "",
  ];
  const rows = levels.map((level) => {
    const { concurrency, stream, promptBytes, addedMs, addedTtftMs, addedGapMs, requestsPerS } = level;
    return [
      concurrency,
      stream ? "streaming" : "non-streaming",
      promptText(promptBytes),
      intervalText(addedMs.p50),
      intervalText(addedMs.p90),
      intervalText(addedMs.p99),
      intervalText(addedTtftMs?.p50),
      intervalText(addedGapMs?.p50),
      requestsPerS.toFixed(requestsPerS < 100 ? 1 : 0),
      [...(level.upstreamBound ? ["u"] : []), ...(level.heldAtPerS === null ? [] : ["h"])].join(" "),
    ];
  });
  return terminalTable(columns, rows);
}

/** `carries 1,200/s before it adds more than 5 ms at p99`. */
function frontierLines(frontier: Frontier | undefined): string[] {
  const highest = (frontier?.bounds ?? []).map(({ addedP99Ms, requestsPerS, isPassed, upstreamBound }) => {
    const rate =
      requestsPerS === null ? "less than the lowest rate tried" : `${isPassed ? "" : "at least "}${requestsPerS}/s`;
    return `${addedP99Ms} ms: ${rate}${upstreamBound ? " u" : ""}`;
  });
  return highest.length === 0 ? [] : [`highest rate before it adds more at p99   ${highest.join("   ")}`];
}

function processLine({ cpuS, peakMemoryBytes, peakOpenFiles }: NonNullable<Arm["process"]>): string {
  const mib = (peakMemoryBytes / 2 ** 20).toFixed(0);
  return `its processes used ${cpuS.toFixed(1)} s of CPU, at most ${mib} MiB of memory and ${peakOpenFiles} open files`;
}

/** What the letters of the last column mean, if any occur. */
function marksOf(levels: readonly OverheadLevel[]): string[] {
  return [
    ...(levels.some(({ upstreamBound }) => upstreamBound)
      ? ["u: upstream-bound. With this many clients, the upstream itself is the limit."]
      : []),
    ...(levels.some(({ heldAtPerS }) => heldAtPerS !== null)
      ? ["h: held. At full speed the clients would wait in queues, so all arms got the same lower rate."]
      : []),
  ];
}

function intervalText(difference: AddedDifference | undefined): string {
  if (difference === undefined || difference.value === null) return "–";
  const { value, low, high } = difference;
  return `${differenceText(value)} (${differenceText(low ?? value)} … ${differenceText(high ?? value)})`;
}
