import { type Check, defineCheck, type Response, type Session } from "../../src/checks/index.ts";
import { median, rankCorrelation } from "../../src/core/index.ts";
import { DIALECTS, type Dialect, MODES, type Mode } from "../../src/dialects/index.ts";
import { addressAt } from "../../src/target/index.ts";

/** Requests of each kind; enough for meaningful medians of each quarter. */
const EACH = 32;
/** Growth within one check above which it is more than noise, ms and factor. */
const GROWTH_MS = 15;
const GROWTH_FACTOR = 2;
/** How well latencies must follow their order for a smaller growth to count: rank correlation. */
const TREND = 0.85;
/** Share of the last quarter that took longer than the median of the first, and the other way round. */
const APART = 0.85;
/** A longer series ends early, ms, once it has enough rounds. */
const SERIES_MS = 12_000;
const MIN_ROUNDS = 8;
/** From when a request counts as an outlier, ms and multiples of the median. */
const OUTLIER_MS = 400;
const OUTLIER_FACTOR = 20;

interface Kind {
  readonly dialect: Dialect;
  readonly mode: Mode;
}

const KINDS: readonly Kind[] = DIALECTS.flatMap((dialect) => MODES.map((mode) => ({ dialect, mode })));

const steadyLatency = defineCheck({
  id: "robustness.latency",
  title: "Latency neither grows with the number of requests nor spikes",
  covers: ["STEADY-LATENCY"],
  explains:
    "Sends short requests of every kind in sequence with nothing else in flight. The medians of the first and last quarter should be similar, or at least follow no trend, and no request should take many times the median, in two series. Growth means that the gateway accumulates something per request; spikes mean that requests wait for something unrelated.",
  schedule: { order: "exclusive" },
  cost: { requests: KINDS.length * EACH },
  async run(t) {
    // An account with a low rate would take minutes.
    const each = Math.max(8, Math.min(EACH, Math.floor((t.target.limits?.rpm ?? 300) / 20)));
    const first = await series(t, each);
    // A busy machine makes latency grow, too; a gateway whose latency grows does so twice.
    return { first, second: findings(first).length === 0 ? null : await series(t, each) };
  },
  judge({ first, second }, verdict) {
    const kinds = new Set(first.map(({ requested }) => `${requested.endpoint} ${requested.mode}`)).size;
    if (first.filter(({ admitted }) => admitted).length < kinds * 4) {
      return verdict.inconclusive("too few requests were served");
    }
    const once = findings(first);
    const twice = second === null ? [] : findings(second);
    const confirmed = twice.filter(({ kind, what }) =>
      once.some((other) => other.kind === kind && other.what === what),
    );
    const [worst] = confirmed;
    verdict.should("STEADY-LATENCY", confirmed.length, 0, {
      in: worst?.response,
      because: worst?.words ?? "growth or jumps in two series of requests",
    });
  },
});

async function series(t: Session, each: number): Promise<Response[]> {
  const responses: Response[] = [];
  const startedUs = t.nowUs();
  for (let round = 0; round < each; round++) {
    if (round >= MIN_ROUNDS && t.nowUs() - startedUs > SERIES_MS * 1_000) break;
    const kinds = t.target.dialects.flatMap((endpoint) => MODES.map((mode) => ({ endpoint, mode, prompt: "ping" })));
    // If replies are slow, the kinds are sent concurrently; each kind is still sequential.
    if (t.replyTimes.concurrentRequests > 1) responses.push(...(await Promise.all(kinds.map((one) => t.send(one)))));
    else for (const one of kinds) responses.push(await t.send(one));
  }
  return responses;
}

interface Outlier {
  readonly kind: string;
  readonly what: "growth" | "jumps";
  readonly words: string;
  readonly response: Response | undefined;
}

/** Anomalies in the latencies of a series, by kind. */
function findings(responses: readonly Response[]): Outlier[] {
  return KINDS.flatMap(({ dialect, mode }) => {
    const own = responses.filter(
      ({ requested, admitted }) => requested.endpoint === dialect && requested.mode === mode && admitted,
    );
    return own.length < 8 ? [] : outliersOf(own, `${dialect}, ${mode}`);
  });
}

function outliersOf(responses: readonly Response[], kind: string): Outlier[] {
  // While this process was delayed, so was the reading of responses.
  const durations = responses.map(({ durationMs, exchange }) => Math.max(0, durationMs - exchange.ownLagMs));
  const quarter = Math.floor(durations.length / 4);
  const [early, late] = [durations.slice(0, quarter), durations.slice(-quarter)];
  const [first, last] = [median(early), median(late)];
  const middle = median(durations);
  const jumps = responses.filter((_, at) => (durations[at] ?? 0) > Math.max(OUTLIER_MS, middle * OUTLIER_FACTOR));
  const found: Outlier[] = [];
  // If response times vary a lot, medians of this few differ by chance; their quarters do not.
  const apart =
    late.filter((ms) => ms > first).length >= quarter * APART &&
    early.filter((ms) => ms < last).length >= quarter * APART;
  const steep = last > first * GROWTH_FACTOR || rankCorrelation(durations) > TREND;
  if (steep && apart && last - first > GROWTH_MS) {
    found.push({
      kind,
      what: "growth",
      response: responses.at(-1),
      words: `${kind}: median ${first.toFixed(1)} ms in the first quarter, ${last.toFixed(1)} ms in the last`,
    });
  }
  if (jumps.length > 0) {
    found.push({
      kind,
      what: "jumps",
      response: jumps[0],
      words: `${kind}: ${jumps.length} of ${responses.length} took over ${OUTLIER_MS} ms, median ${middle.toFixed(1)} ms`,
    });
  }
  return found;
}

/** Pairs of a request on a new connection and one on a reused connection. */
const PAIRS = 12;
/** How much longer the second may take, ms and factor: new connections should be slower. */
const REUSE_MS = 20;
const REUSE_FACTOR = 3;

const reusedLatency = defineCheck({
  id: "robustness.connection-reuse",
  title: "A request on a reused connection is not slower than one on a new connection",
  covers: ["STEADY-LATENCY"],
  explains:
    "Sends pairs of the same request on a new connection and again on that connection, in two series. If the second takes 20 ms longer and three times as long, small writes wait for acknowledgements that wait for more bytes: Nagle's algorithm against delayed acknowledgement.",
  across: { dialect: DIALECTS },
  schedule: { order: "exclusive" },
  cost: { requests: 2 * PAIRS },
  async run(t) {
    const first = await pairs(t);
    return { first, second: reuseCostMs(first) === undefined ? null : await pairs(t) };
  },
  judge({ first, second }, verdict) {
    const costs = [reuseCostMs(first), second === null ? undefined : reuseCostMs(second)];
    const confirmed = costs.every((cost) => cost !== undefined);
    verdict.should("STEADY-LATENCY", confirmed, false, {
      in: first[0]?.again,
      because: confirmed
        ? `${costs.map((ms) => ms?.toFixed(0)).join(" and ")} ms slower in two series`
        : "requests on reused connections were not slower in both series",
    });
  },
});

type Pair = { readonly fresh: Response; readonly again: Response };

async function pairs(t: Session): Promise<Pair[]> {
  const made: Pair[] = [];
  for (let count = 0; count < PAIRS; count++) {
    const address = addressAt(t.target, count);
    made.push({
      fresh: await t.send({ prompt: "ping", freshConnection: true, address }),
      again: await t.send({ prompt: "ping", address }),
    });
  }
  return made;
}

/** How much slower reuse is, ms; `undefined` if it is not. */
function reuseCostMs(made: readonly Pair[]): number | undefined {
  const valid = made.filter(
    ({ fresh, again }) => fresh.admitted && again.admitted && again.exchange.connection.earlier > 0,
  );
  if (valid.length < PAIRS / 2) return undefined;
  const fresh = median(valid.map((pair) => pair.fresh.durationMs));
  const again = median(valid.map((pair) => pair.again.durationMs));
  return again - fresh > REUSE_MS && again > fresh * REUSE_FACTOR ? again - fresh : undefined;
}

export const LATENCY: readonly Check[] = [steadyLatency, reusedLatency];
