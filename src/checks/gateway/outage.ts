import type { Endpoint } from "../../dialects/index.ts";
import { requestedModel } from "../response/requested-model.ts";
import type { Response } from "../response/response.ts";

/** Consecutive plain requests that must be refused before a model counts as no longer served: a single refusal may be a stray. */
export const MIN_REFUSED = 2;
/** A run stops waiting for a model after this long, ms: cool-downs of gateways take up to a minute. */
export const MAX_OUTAGE_WAIT_MS = 75_000;
/** How long after a provider failure a gateway may refuse requests for that provider, µs. */
const COOL_DOWN_US = 60_000_000;

/** A model as served by one endpoint: a gateway may know an id in one dialect only. */
export interface Offer {
  readonly endpoint: Endpoint;
  readonly model: string;
}

/** An offer as a key. */
export const offerName = ({ endpoint, model }: Offer): string => `${endpoint} ${model}`;

/** A period in which plain requests for a model that had been served were refused. */
export interface Outage extends Offer {
  /** The last response before it that served the model. */
  readonly after: Response;
  /** The first refusal that was noticed. */
  readonly first: Response;
  /** Plain requests that were refused. */
  readonly refused: readonly Response[];
  /** The first request that was served again, preferably one of the recovery probes. */
  readonly until: Response | undefined;
  /** Requests shortly before it whose provider failed, mostly on purpose. */
  readonly upstreamFailures: number;
}

/** Whether a response says that a model cannot be served: it does not exist, or the gateway failed. */
export function refusesModel({ status = 0, requested }: Response): boolean {
  return requested.endpoint !== "models" && requested.upstreamFails !== true && (status === 404 || status >= 500);
}

/** The periods in which models were not served, according to the recovery probes. Pure. */
export function outagesIn(responses: readonly Response[]): Outage[] {
  const probes = responses.filter(({ requested }) => requested.recoveryOf !== undefined);
  const suspects = [...new Set(probes.map(({ requested }) => requested.recoveryOf))];
  if (suspects.length === 0) return [];
  const served = new Set(responses.filter(({ admitted }) => admitted).map((response) => requestedModel(response)));
  return suspects.flatMap((id) => {
    const first = responses.find((response) => response.id === id);
    const offer = first && offerOf(first);
    const own = probes.filter(({ requested }) => requested.recoveryOf === id);
    const again = own.findIndex(({ admitted }) => admitted);
    const refused = again < 0 ? own : own.slice(0, again);
    // Later ones may have failed for other reasons, such as a limit or an interrupt.
    const shown = refused.slice(0, MIN_REFUSED);
    if (first === undefined || offer === undefined) return [];
    if (shown.length < MIN_REFUSED || !shown.every(refusesModel)) return [];
    const startUs = dueUs(first);
    const admitted = responses
      .filter(
        (response) => response.requested.endpoint === offer.endpoint && response.admitted && isFor(offer, response),
      )
      .sort((one, other) => dueUs(one) - dueUs(other));
    const after = admitted.findLast((response) => dueUs(response) < startUs);
    if (after === undefined) return [];
    const lastUs = Math.max(...refused.map(dueUs));
    const until = own[again] ?? admitted.find((response) => dueUs(response) > lastUs);
    const upstreamFailures = responses.filter((response) => {
      const { endUs } = response.exchange.timeline;
      return dueUs(response) < startUs && endUs > startUs - COOL_DOWN_US && isUpstreamFailure(response, served);
    }).length;
    return [{ ...offer, after, first, refused, until, upstreamFailures }];
  });
}

/**
 * Whether a provider failed. If no check caused it, this is known only for listed models that are never served: others may have
 * met the same outage.
 */
function isUpstreamFailure(response: Response, served: ReadonlySet<string | undefined>): boolean {
  const { requested, status = 0 } = response;
  if (requested.upstreamFails === true) return true;
  return status >= 500 && requested.endpoint !== "models" && !served.has(requestedModel(response));
}

/** Whether a request was refused because of one of these outages, so that it says nothing else about the gateway. */
export function isRefusedIn(outages: readonly Outage[], response: Response): boolean {
  if (outages.length === 0 || !refusesModel(response)) return false;
  // A 404 may be the expected denial; a server error never is.
  if (response.requested.intent === "denied" && response.status === 404) return false;
  return outages.some(({ after, first, until, ...offer }) => {
    if (until !== undefined && dueUs(response) > dueUs(until)) return false;
    if (isFor(offer, response)) return dueUs(response) > dueUs(after);
    // A provider in cool-down may serve other models, too, so their refusals from then on are excused. An outage without
    // recovery says nothing about them.
    return until?.requested.recoveryOf === first.id && response.exchange.timeline.endUs >= dueUs(first);
  });
}

/** Whether the full wait for a model ended without success, and it was not served later either. */
export function isPermanent({ first, refused, until }: Outage): boolean {
  const endUs = refused.at(-1)?.exchange.timeline.endUs ?? 0;
  return until === undefined && endUs - dueUs(first) >= MAX_OUTAGE_WAIT_MS * 1_000;
}

/** An outage as a sentence. */
export function describeOutage({ endpoint, model, after, first, refused, until }: Outage): string {
  const last = until ?? refused.at(-1) ?? first;
  const seconds = (last.exchange.timeline.endUs - dueUs(first)) / 1_000_000;
  return `\`${model}\` (${endpoint}) was served until ${after.id} and then returned ${first.summary}, ${
    until === undefined
      ? `and was not served again within ${seconds.toFixed(1)} s`
      : `until ${until.id} (${seconds.toFixed(1)} s)`
  }`;
}

function dueUs({ exchange }: Response): number {
  return exchange.timeline.dueUs;
}

/** The model and endpoint that a request used, according to its body. */
export function offerOf(response: Response): Offer | undefined {
  const model = requestedModel(response);
  return model === undefined ? undefined : { endpoint: response.requested.endpoint, model };
}

function isFor({ endpoint, model }: Offer, response: Response): boolean {
  return response.requested.endpoint === endpoint && requestedModel(response) === model;
}
