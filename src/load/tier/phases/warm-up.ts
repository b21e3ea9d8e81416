import { median, unreachableError } from "../../../core/index.ts";
import { finding, type Observation } from "../../../judging/index.ts";
import { isAdmitted } from "../../../limits/index.ts";
import type { Finding } from "../../../record/index.ts";
import { SETTLE_MS } from "../at-concurrency-limit.ts";
import { judgeCommon } from "../judge/judge-common.ts";
import { spreadOf } from "../judge/judge-service.ts";
import type { TierBench, TierRequest } from "../tier-bench.ts";
import { evenly, type TierPhase } from "../tier-phase.ts";

/** Single requests at the start: they warm up connections and code, and show how a lone stream arrives. */
export const WARM_UPS = 8;
/** Interval of a fixed schedule. */
const EVERY_MS = 400;
/** Pause after it. */
const PAUSE_MS = 1_000;

export const warmUp: TierPhase = {
  name: "warm-up",
  title: "Single requests are served",
  questions: ["service.admitted"],
  cost: () => ({ requests: WARM_UPS, durationS: 2, expectedS: 4 }),
  act: ({ bench }) => sendSingles(bench),
  *judge(observations, parts) {
    yield refusedKinds(parts.bench, observations);
    yield* judgeCommon(observations, parts);
  },
  fixed: {
    plan: ({ short }) => ({
      durationMs: WARM_UPS * EVERY_MS + PAUSE_MS,
      groups: [{ role: "warm-up", arrivals: evenly(WARM_UPS, EVERY_MS), requests: short, vus: 8 }],
    }),
  },
};

/** @throws UnreachableError if the gateway does not respond at all. */
async function sendSingles(bench: TierBench): Promise<void> {
  const kinds = bench.kinds("echo");
  for (let index = 0; index < WARM_UPS - 2; index++) {
    const one = await bench.send(kinds[index % kinds.length] as TierRequest, "warm-up");
    if (one !== undefined && isRefusal(one) && !bench.refuses(one)) bench.excludeKind(one);
    if (index === 0 && one !== undefined && one.status === undefined) {
      throw unreachableError(bench.target.baseUrl, bench.sender.lastFailure ?? one.what);
    }
  }
  const lone = await Promise.all(bench.longStreams().map((request) => bench.send(request, "lone")));
  const streams = lone
    .filter((one) => one !== undefined && isAdmitted(one))
    .map((one) => one as NonNullable<typeof one>);
  await bench.wait(SETTLE_MS);
  bench.long = {
    ...bench.long,
    durationMs: median(streams.map(({ endUs, sentUs }) => (endUs - sentUs) / 1_000)),
    longestGapMs: Math.max(0, ...streams.map(({ longestGapUs }) => (longestGapUs ?? 0) / 1_000)),
    spread: Object.fromEntries(streams.map((one) => [one.dialect, spreadOf(one)])),
  };
}

/** Streams of /messages are optional: a gateway may reject them as a client error. */
function isRefusal({ dialect, stream, status }: Observation): boolean {
  return dialect === "messages" && stream && (status === 400 || status === 422 || status === 501);
}

/** Reports the kinds that the run omits. */
function refusedKinds(bench: TierBench, observations: readonly Observation[]): Finding[] {
  const refused = observations.filter((one) => bench.refuses(one));
  if (refused.length === 0) return [];
  const why = `streams of /messages are rejected with ${refused[0]?.status}: the run omits them`;
  return [
    finding({
      name: "streams.refused",
      title: "Both dialects stream",
      requirements: ["STREAM-1"],
      observed: why,
      basis: "timing",
    }),
  ];
}
