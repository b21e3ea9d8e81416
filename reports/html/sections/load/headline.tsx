import type { LoadClass, LoadPhase, LoadRun } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { headlineClass, headlinePhase, kindOf, otherModeClass } from "../../../figures/latency-table.ts";
import { quantileLegend, quantileText } from "../../../figures/quantiles.ts";
import { admittedRate } from "../../../figures/throughput.ts";
import { decimal, ms } from "../../format.ts";

/** The few figures that most readers look for. */
export function Headline({ run }: { readonly run: LoadRun }) {
  const { phases, retryAfter } = run;
  const phase = headlinePhase(run);
  if (phase === undefined) return null;
  const sum = (read: (phase: LoadPhase) => number) => phases.reduce((total, one) => total + read(one), 0);
  const sent = sum((one) => one.sent);
  const entry = headlineClass(phase);
  const other = entry === undefined ? undefined : otherModeClass(phase, entry);
  const where = oneLine(phase.name, 40);
  const kind = entry === undefined ? "nothing was admitted" : `${where}, ${kindOf(entry)}`;
  const waits =
    retryAfter === null || retryAfter.tested === 0
      ? []
      : [
          [
            "Retry-After",
            `${decimal(retryAfter.sufficient)} of ${decimal(retryAfter.tested)}`,
            "waits were sufficient",
          ],
        ];
  const { goodput } = phase;
  const rate = admittedRate(run);
  const figures = [
    ...(rate === undefined ? [] : [["Admitted", `${decimal(rate.perS, 1)}/s`, rate.note]]),
    ...(entry?.ttftMs ? [["TTFT p50 / p95 / p99", mainQuantiles(entry.ttftMs, entry.count), kind]] : []),
    ["E2E latency p50 / p95 / p99", e2eText(entry), kind],
    ...(other === undefined ? [] : [["E2E latency p50 / p95 / p99", e2eText(other), `${where}, ${kindOf(other)}`]]),
    ...(goodput === undefined
      ? []
      : [
          [
            "Goodput",
            `${decimal(goodput.requestsPerS, 1)}/s`,
            `${goodput.tokensPerS === null ? "tokens unknown" : `${decimal(goodput.tokensPerS, 1)} tokens/s`}, ${goodput.objectives.map(({ text }) => oneLine(text, 60)).join(", ")}`,
          ],
        ]),
    ["Denied", decimal(sum((one) => one.denied)), `of ${decimal(sent)} sent`],
    ["Failed", decimal(sum((one) => one.failed)), `of ${decimal(sent)} sent`],
    ["Invalid", decimal(sum((one) => one.invalid)), "2xx replies that no client could use"],
    ...waits,
  ];
  const legend = quantileLegend(figures.flatMap(([, value = ""]) => value.replace(/ ms$/, "").split(" / ")));
  return (
    <>
      <dl class="headline-figures">
        {figures.map(([name, value, note]) => (
          <div key={`${name} ${note}`}>
            <dt>{name}</dt>
            <dd>
              {value} <small>{note}</small>
            </dd>
          </div>
        ))}
      </dl>
      {legend.length === 0 ? null : <p class="note">{legend.join("; ")}.</p>}
    </>
  );
}

const e2eText = (entry: LoadClass | undefined): string =>
  entry?.responseMs ? mainQuantiles(entry.responseMs, entry.count) : "–";

/** The most important quantiles, with their intervals where these are wide. */
function mainQuantiles(quantiles: NonNullable<LoadClass["responseMs"]>, count: number): string {
  const stats = ["p50", "p95", "p99"] as const;
  return `${stats.map((stat) => quantileText(quantiles, stat, { count, write: ms })).join(" / ")} ms`;
}
