import { type Answer, type Check, defineCheck, type Verdict } from "../../src/conformance/index.ts";
import { DIALECTS, type Dialect, MODES, type Mode } from "../../src/wire/index.ts";

/** Requests of each kind; enough for quarters whose medians mean something. */
const EACH = 32;
/** What growth within one check must come to before it is more than noise, ms and factor. */
const GROWTH_MS = 15;
const GROWTH_FACTOR = 2;
/** What makes one request stand out, ms and multiples of the median. */
const OUTLIER_MS = 400;
const OUTLIER_FACTOR = 20;

interface Kind {
  readonly dialect: Dialect;
  readonly mode: Mode;
}

const KINDS: readonly Kind[] = DIALECTS.flatMap((dialect) => MODES.map((mode) => ({ dialect, mode })));

const steadyLatency = defineCheck({
  id: "robustness.latency",
  title: "Latency neither grows with the requests served nor jumps now and then",
  covers: ["STEADY-LATENCY"],
  explains:
    "Short requests of every kind, one after the other with nothing else under way. The medians of the first and last quarter should be alike, and no more than one request should take many times the median. Growth means that something is kept per request; jumps mean that requests wait for something that is not theirs.",
  alone: true,
  cost: { requests: KINDS.length * EACH },
  async probe(t) {
    // An account with a low rate would make us wait for minutes.
    const each = Math.max(8, Math.min(EACH, Math.floor((t.target.limits?.rpm ?? 300) / 20)));
    const answers: Answer[] = [];
    for (let round = 0; round < each; round++) {
      for (const { dialect, mode } of KINDS) answers.push(await t.ask({ endpoint: dialect, mode, prompt: "ping" }));
    }
    return { answers };
  },
  judge({ answers }, verdict) {
    for (const { dialect, mode } of KINDS) {
      const own = answers.filter(
        ({ asked, admitted }) => asked.endpoint === dialect && asked.mode === mode && admitted,
      );
      if (own.length >= 8) judgeKind(own, `${dialect}, ${mode}`, verdict);
    }
    if (verdict.findings.length === 0) verdict.inconclusive("too few requests were served");
  },
});

function judgeKind(answers: readonly Answer[], what: string, verdict: Verdict): void {
  const durations = answers.map(({ durationMs }) => durationMs);
  const quarter = Math.floor(durations.length / 4);
  const first = median(durations.slice(0, quarter));
  const last = median(durations.slice(-quarter));
  const grows = last > first * GROWTH_FACTOR && last - first > GROWTH_MS;
  verdict.should("STEADY-LATENCY", grows, false, {
    in: answers.at(-1),
    because: `${what}: median ${first.toFixed(1)} ms in the first quarter, ${last.toFixed(1)} ms in the last`,
  });
  const middle = median(durations);
  const jumps = answers.filter(({ durationMs }) => durationMs > OUTLIER_MS && durationMs > middle * OUTLIER_FACTOR);
  verdict.should("STEADY-LATENCY", jumps.length <= 1, true, {
    in: jumps[0],
    because: `${what}: ${jumps.length} of ${answers.length} took over ${OUTLIER_MS} ms, median ${middle.toFixed(1)} ms`,
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

export const LATENCY: readonly Check[] = [steadyLatency];
