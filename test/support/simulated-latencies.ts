import { type Random, seededRandom } from "../../src/core/index.ts";
import { LoadExchange, type PreparedRequest } from "../../src/http/load-client/load-exchange.ts";
import { Tally } from "../../src/load/measure/tally.ts";

/** Draws the durations of a run one after the other, µs. @param place 0 at the beginning of the run, 1 at its end. */
type Latencies = (random: Random) => (place: number) => number;

const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Correlation of neighbours; a value and the one 45 requests later are almost uncorrelated. */
const CORRELATION = 0.95;

/** Known distributions of response times. */
export const DISTRIBUTIONS = {
  "log-normal": (random) => () => 200_000 * Math.exp(0.5 * normal(random)),
  bimodal: (random) => () =>
    random() < 0.8 ? 50_000 * Math.exp(0.1 * normal(random)) : 800_000 * Math.exp(0.2 * normal(random)),
  "heavy tail": (random) => () => 20_000 / (1 - random()) ** (1 / 1.5),
  autocorrelated: (random) => {
    let state = normal(random);
    return () => {
      state = CORRELATION * state + Math.sqrt(1 - CORRELATION ** 2) * normal(random);
      return 100_000 * Math.exp(0.5 * state);
    };
  },
  drifting: (random) => (place) => 100_000 * (1 + 0.5 * place) * Math.exp(0.3 * normal(random)),
} satisfies Record<string, Latencies>;

export type DistributionName = keyof typeof DISTRIBUTIONS;

const PREPARED: PreparedRequest = {
  url: "http://127.0.0.1:1/v1/chat/completions",
  dialect: "chat",
  stream: false,
  bytes: Buffer.alloc(0),
  key: "valid",
  capture: false,
};

/**
 * Counts a run of evenly spaced requests like the load engine: each when it has ended.
 *
 * @param isEnough called after each second to decide whether to end here.
 */
export function simulatedRun(
  name: DistributionName,
  { seed, requests, ratePerS }: { readonly seed: number; readonly requests: number; readonly ratePerS: number },
  isEnough: (tally: Tally, atS: number) => boolean = () => false,
): Tally {
  const draw = DISTRIBUTIONS[name](seededRandom(seed));
  const tally = new Tally(0);
  for (let index = 0; index < requests; index++) {
    const sentUs = ((index + 0.5) * 1_000_000) / ratePerS;
    const endUs = sentUs + draw(index / requests);
    tally.offered(sentUs);
    tally.sent(sentUs, sentUs, 1);
    tally.ended(Object.assign(new LoadExchange(PREPARED, sentUs, 0), { sentUs, endUs }), "admitted");
    if ((index + 1) % ratePerS === 0 && isEnough(tally, (index + 1) / ratePerS)) break;
  }
  return tally;
}

/** The true quantile of a distribution over a whole run, ms: from two million values. */
export function trueQuantilesMs(name: DistributionName, shares: readonly number[]): number[] {
  const values = new Float64Array(2_000_000);
  const perRun = 20_000;
  for (let index = 0; index < values.length; index += perRun) {
    const draw = DISTRIBUTIONS[name](seededRandom(0x7000_0000 + index));
    for (let at = 0; at < perRun; at++) values[index + at] = draw(at / perRun);
  }
  values.sort();
  return shares.map((share) => (values[Math.floor(share * values.length)] ?? Number.NaN) / 1_000);
}
