import type { Response } from "../response/response.ts";

/** Rounds of probes, and minimum number of probes, before a gateway counts as stopped. */
export const PROBE_ROUNDS = 3;
const MIN_PROBES = 5;
/** Maximum number of requests in flight that the message names. */
const MAX_NAMED = 8;
/** Errors which show that the network of this machine is unavailable. */
const OWN_NETWORK = /ENETUNREACH|ENETDOWN|EHOSTUNREACH|EADDRNOTAVAIL|EMFILE|EAI_AGAIN|ENOTFOUND/;

/** A gateway that responded at first and then stopped responding to anything. */
export interface GatewayStop {
  /** The last response, or the last part of one. */
  readonly after: Response;
  readonly afterUs: number;
  /** Requests that it had received and not responded to, those sent closest to the stop first. One of them may be the cause. */
  readonly inFlight: readonly Response[];
  /** Requests which showed that it does not respond. */
  readonly probes: readonly Response[];
}

/** Whether the gateway stopped responding, according to the probes at the end of a run. Pure. */
export function stopIn(responses: readonly Response[]): GatewayStop | undefined {
  if (responses.filter(({ requested }) => requested.probe === true).length < MIN_PROBES) return undefined;
  let after: Response | undefined;
  let afterUs = Number.NEGATIVE_INFINITY;
  for (const response of responses) {
    const signUs = lastSignUs(response);
    if (signUs === undefined || signUs <= afterUs) continue;
    after = response;
    afterUs = signUs;
  }
  if (after === undefined) return undefined;
  const probes = responses.filter(
    ({ requested, exchange }) => requested.probe === true && exchange.timeline.dueUs > afterUs,
  );
  if (probes.length < MIN_PROBES) return undefined;
  return { after, afterUs, inFlight: inFlightAt(afterUs, responses), probes };
}

/** Whether a request was lost because the gateway stopped, so that it says nothing else about the gateway. */
export function isLostTo({ afterUs }: Pick<GatewayStop, "afterUs">, { complete, exchange }: Response): boolean {
  return !complete && exchange.timeline.endUs > afterUs;
}

/** Whether the network of this machine was unavailable, not the gateway. */
export function isOwnNetwork({ probes }: GatewayStop): boolean {
  return probes.every(({ exchange }) => OWN_NETWORK.test(exchange.ending.detail ?? ""));
}

/** The stop as a sentence. */
export function describeStop({ after, inFlight, probes }: GatewayStop): string {
  const named = inFlight.slice(0, MAX_NAMED).map(({ id, exchange: { request } }) => {
    return `${id} ${request.method} ${new URL(request.url).pathname}`;
  });
  const more = inFlight.length > MAX_NAMED ? ` and ${inFlight.length - MAX_NAMED} more` : "";
  const flight = named.length === 0 ? "" : `; in flight at that moment: ${named.join(", ")}${more}`;
  return `the gateway stopped responding after ${after.id}${flight}; ${probes.length} plain requests on new connections got no response`;
}

/** When the last part of a response arrived, µs; `undefined` if there was none. */
function lastSignUs({ exchange: { response, timeline } }: Response): number | undefined {
  if (response === undefined) return undefined;
  return response.body.pieces.at(-1)?.[0] ?? timeline.headersUs;
}

/** The request that stops a gateway may be sent up to this long after its last response, µs. */
const LATE_US = 1_000_000;

function inFlightAt(afterUs: number, responses: readonly Response[]): Response[] {
  const distance = ({ exchange }: Response) => Math.abs(exchange.timeline.dueUs - afterUs);
  const lost = responses
    .filter((response) => response.requested.probe !== true && isLostTo({ afterUs }, response))
    .sort((a, b) => distance(a) - distance(b));
  // A crash resets all pending requests, including those sent after the last response.
  const had = lost.filter(
    ({ exchange }) => exchange.timeline.dueUs <= afterUs + LATE_US || exchange.ending.kind === "reset",
  );
  return had.length > 0 ? had : lost.slice(0, 1);
}
