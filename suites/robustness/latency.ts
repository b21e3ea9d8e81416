import { type Answer, type Check, defineCheck, type Probe } from "../../src/conformance/index.ts";
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
    "Short requests of every kind, one after the other with nothing else under way. The medians of the first and last quarter should be alike, and no request should take many times the median, in two series. Growth means that something is kept per request; jumps mean that requests wait for something that is not theirs.",
  alone: true,
  cost: { requests: KINDS.length * EACH },
  async probe(t) {
    // An account with a low rate would make us wait for minutes.
    const each = Math.max(8, Math.min(EACH, Math.floor((t.target.limits?.rpm ?? 300) / 20)));
    const first = await series(t, each);
    // A busy machine makes latency grow, too; a gateway that grows by itself does so twice.
    return { first, second: findings(first).length === 0 ? null : await series(t, each) };
  },
  judge({ first, second }, verdict) {
    if (first.filter(({ admitted }) => admitted).length < KINDS.length * 4) {
      return verdict.inconclusive("too few requests were served");
    }
    const once = findings(first);
    const twice = second === null ? [] : findings(second);
    const confirmed = twice.filter(({ kind, what }) =>
      once.some((other) => other.kind === kind && other.what === what),
    );
    const [worst] = confirmed;
    verdict.should("STEADY-LATENCY", confirmed.length, 0, {
      in: worst?.answer,
      because: worst?.words ?? "growth or jumps in two series of requests",
    });
  },
});

async function series(t: Probe, each: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < each; round++) {
    for (const { dialect, mode } of KINDS) answers.push(await t.ask({ endpoint: dialect, mode, prompt: "ping" }));
  }
  return answers;
}

interface Oddity {
  readonly kind: string;
  readonly what: "growth" | "jumps";
  readonly words: string;
  readonly answer: Answer | undefined;
}

/** What is odd about the latencies of a series, kind by kind. */
function findings(answers: readonly Answer[]): Oddity[] {
  return KINDS.flatMap(({ dialect, mode }) => {
    const own = answers.filter(({ asked, admitted }) => asked.endpoint === dialect && asked.mode === mode && admitted);
    return own.length < 8 ? [] : oddities(own, `${dialect}, ${mode}`);
  });
}

function oddities(answers: readonly Answer[], kind: string): Oddity[] {
  const durations = answers.map(({ durationMs }) => durationMs);
  const quarter = Math.floor(durations.length / 4);
  const first = median(durations.slice(0, quarter));
  const last = median(durations.slice(-quarter));
  const middle = median(durations);
  const jumps = answers.filter(({ durationMs }) => durationMs > OUTLIER_MS && durationMs > middle * OUTLIER_FACTOR);
  const found: Oddity[] = [];
  if (last > first * GROWTH_FACTOR && last - first > GROWTH_MS) {
    found.push({
      kind,
      what: "growth",
      answer: answers.at(-1),
      words: `${kind}: median ${first.toFixed(1)} ms in the first quarter, ${last.toFixed(1)} ms in the last`,
    });
  }
  if (jumps.length > 0) {
    found.push({
      kind,
      what: "jumps",
      answer: jumps[0],
      words: `${kind}: ${jumps.length} of ${answers.length} took over ${OUTLIER_MS} ms, median ${middle.toFixed(1)} ms`,
    });
  }
  return found;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

export const LATENCY: readonly Check[] = [steadyLatency];
