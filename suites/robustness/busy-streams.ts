import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { median } from "../../src/core/index.ts";

/** Number of the run's requests in flight, on all accounts, from which a stream counts as concurrent with others. */
const BUSY = 6;
/** Silence in the middle of a stream that counts as a stall, ms, and as a multiple of the usual silence. */
const STALL_MS = 2_500;
const STALL_FACTOR = 20;
/** Streams that must have stalled; one or two stalls may be the provider thinking. */
const FEWEST = 3;

const busyStreams = defineInvariant({
  id: "robustness.busy-streams",
  title: "Streams do not stall because others are in flight",
  covers: ["STEADY-LATENCY"],
  explains:
    "Compares the run's streams that had others in flight with those that ran alone. If streams stall for seconds midway, only or mostly while others are in flight, requests wait for each other in the gateway.",
  judge(responses, verdict) {
    const streams = responses.filter(
      ({ requested, admitted, exchange }) =>
        requested.mode === "streaming" &&
        requested.endpoint !== "models" &&
        admitted &&
        exchange.ending.kind === "complete",
    );
    const othersInFlight = othersInFlightOf(responses);
    const withOthers = streams.filter((response) => othersInFlight(response) >= BUSY);
    const alone = streams.filter((response) => othersInFlight(response) < BUSY);
    if (withOthers.length < FEWEST || alone.length < FEWEST)
      return verdict.notApplicable("too few streams that ran while others were in flight, or too few that ran alone");
    const stalled = withOthers.filter(hasStalled);
    const usual = alone.filter(hasStalled).length / alone.length;
    const share = stalled.length / withOthers.length;
    const worse = stalled.length >= FEWEST && share > 3 * usual + 0.02;
    verdict.should("STEADY-LATENCY", worse, false, {
      in: stalled[0],
      because: `${stalled.length} of ${withOthers.length} streams that ran while others were in flight stalled for over ${STALL_MS / 1_000} s, ${Math.round(usual * 100)} % of those without`,
    });
  },
});

/** Maximum number of requests in flight at any moment during a stream, itself included. */
function othersInFlightOf(responses: readonly Response[]): (response: Response) => number {
  const spans = responses.map(({ exchange: { timeline } }) => [timeline.dueUs, timeline.endUs] as const);
  return ({ exchange: { timeline } }) => {
    const overlapping = spans.filter(([from, to]) => from < timeline.endUs && to > timeline.dueUs);
    const moments = [timeline.dueUs, ...overlapping.map(([from]) => from).filter((from) => from > timeline.dueUs)];
    return Math.max(...moments.map((at) => overlapping.filter(([from, to]) => from <= at && to > at).length));
  };
}

/** Whether a stream was silent for long after its start and then continued. */
function hasStalled({ exchange }: Response): boolean {
  const pieces = exchange.response?.body.pieces ?? [];
  if (exchange.ownLagMs > STALL_MS / 4) return false;
  const gapsMs = pieces.slice(1).map(([atUs], index) => (atUs - (pieces[index]?.[0] ?? atUs)) / 1_000);
  const usual = median(gapsMs);
  return gapsMs.some((gap) => gap > Math.max(STALL_MS, usual * STALL_FACTOR));
}

export const BUSY_STREAMS: readonly Check[] = [busyStreams];
