import { randomUUID } from "node:crypto";
import { ConfigError, sleep } from "../core/index.ts";
import { type LoadRequestSpec, RequestLane } from "../load/index.ts";
import type { LaneTarget, OverheadOptions } from "./overhead-options.ts";
import { unusualJson } from "./unusual-json.ts";
import type { ReceivedRequest, UpstreamLog } from "./upstream-log.ts";

/** What a gateway sent to its upstream for marked requests. */
export interface UpstreamFacts {
  /** Sequential requests, and the body that each of them had. */
  readonly inTurn: { readonly body: string; readonly received: readonly ReceivedRequest[] };
  /** Concurrent requests, each held by the upstream; `undefined` if only a single client is measured. */
  readonly atOnce:
    | { readonly sent: number; readonly served: number; readonly received: readonly ReceivedRequest[] }
    | undefined;
}

const IN_TURN = { kind: "closed", inFlight: 1, requests: 20, durationS: 10, rampS: 0 } as const;
const MAX_AT_ONCE = 128;
/** How long the upstream holds each request: even a slow gateway has passed on all of them by then. */
export const HELD_MS = 1_500;
/** Requests that reach the upstream later get an immediate response; otherwise, a queue of many requests would take minutes. */
const RELEASE_MS = 1_200;

/**
 * Sends marked requests through a gateway, and reads what arrived from the log of its upstream.
 *
 * @returns `undefined` if the log cannot be read, which is reported: the measurements so far are kept.
 */
export async function gatherUpstreamFacts(
  gateway: LaneTarget,
  log: UpstreamLog,
  options: OverheadOptions,
): Promise<UpstreamFacts | undefined> {
  try {
    return { inTurn: await sendInTurn(gateway, log, options), atOnce: await sendAtOnce(gateway, log, options) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    options.onNotice(`${gateway.name}: no diagnoses from the log of the upstream: ${error.message}`);
    return undefined;
  }
}

async function sendInTurn(
  gateway: LaneTarget,
  log: UpstreamLog,
  options: OverheadOptions,
): Promise<UpstreamFacts["inTurn"]> {
  let body = "";
  const write = (value: object) => {
    body = unusualJson(value);
    return body;
  };
  const { marker, request } = markedRequest(gateway, log, options);
  await log.control.setResponses(marker, { "*": {} });
  await using lane = await openLane(gateway, { ...request, write }, { connections: 1, ...options });
  await lane.run(IN_TURN, options.seed);
  const { requests } = await log.control.requests(marker);
  return { body, received: requests };
}

async function sendAtOnce(
  gateway: LaneTarget,
  log: UpstreamLog,
  options: OverheadOptions,
): Promise<UpstreamFacts["atOnce"]> {
  const { levels, seed, stop } = options;
  const sent = Math.min(MAX_AT_ONCE, Math.max(...levels.map(({ concurrency }) => concurrency)));
  if (sent === 1 || stop.aborted) return undefined;
  const { marker, request } = markedRequest(gateway, log, options);
  await log.control.setResponses(marker, { "*": { latencyMs: HELD_MS } });
  await using lane = await openLane(gateway, request, { connections: sent, ...options });
  const release = async () => {
    await sleep(RELEASE_MS, stop);
    await log.control.setResponses(marker, { "*": {} });
  };
  const arrivals = { kind: "closed", inFlight: sent, requests: sent, rampS: 0 } as const;
  const [{ responseUs }] = await Promise.all([lane.run(arrivals, seed), release()]);
  const { requests } = await log.control.requests(marker);
  return { sent, served: responseUs.length, received: requests };
}

function markedRequest({ requestOf }: LaneTarget, { model }: UpstreamLog, { levels }: OverheadOptions) {
  const marker = `gauntlet-marker-${randomUUID()}`;
  const { concurrency = 1 } = levels[0] ?? {};
  const request = requestOf({ concurrency, stream: false, promptBytes: 0 });
  const own = model === undefined ? {} : { model };
  return { marker, request: { ...request, ...own, prompt: `${marker}: please repeat.` } };
}

function openLane(
  { target, guard }: LaneTarget,
  request: LoadRequestSpec,
  { connections, stop, abort }: Pick<OverheadOptions, "stop" | "abort"> & { readonly connections: number },
): Promise<RequestLane> {
  return RequestLane.open({ target, request, connections, guard, stop, abort });
}
