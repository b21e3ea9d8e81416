import { member } from "../core/index.ts";
import { type Endpoint, parseJson } from "../dialects/index.ts";
import type { Response } from "./response.ts";

/** Consecutive plain requests that must be refused before a model counts as no longer served: a single one may be a stray. */
export const MIN_REFUSED = 2;
/** A gateway may refuse requests for a provider that failed within this time before, µs. */
const COOL_DOWN_US = 60_000_000;

/** A model as one endpoint serves it: a gateway may know an id in one dialect only. */
export interface Offer {
  readonly endpoint: Endpoint;
  readonly model: string;
}

/** An offer as a key. */
export const offerName = ({ endpoint, model }: Offer): string => `${endpoint} ${model}`;

/** A time in which a model that had been served was refused to plain requests. */
export interface Outage extends Offer {
  /** The last response before it that served the model. */
  readonly after: Response;
  /** The first refusal that was noticed. */
  readonly first: Response;
  /** Plain requests that showed it. */
  readonly refused: readonly Response[];
  /** The plain request that was served again; `undefined`: none was while the run waited for it. */
  readonly until: Response | undefined;
  /** Requests shortly before it whose provider failed, most of them on purpose. */
  readonly upstreamFailures: number;
}

/** Whether a response says that a model cannot be served: that there is no such model, or that the gateway failed. */
export function refusesModel({ status = 0, asked }: Response): boolean {
  return asked.endpoint !== "models" && asked.upstreamFails !== true && (status === 404 || status >= 500);
}

/** The times in which models were not served, according to the plain requests that looked for it. Pure. */
export function outagesIn(responses: readonly Response[]): Outage[] {
  const probes = responses.filter(({ asked }) => asked.recoveryOf !== undefined);
  const suspects = [...new Set(probes.map(({ asked }) => asked.recoveryOf))];
  return suspects.flatMap((id) => {
    const first = responses.find((response) => response.id === id);
    const own = probes.filter(({ asked }) => asked.recoveryOf === id);
    const served = own.findIndex(({ admitted }) => admitted);
    const refused = served < 0 ? own : own.slice(0, served);
    if (first === undefined || refused.length < MIN_REFUSED || !refused.every(refusesModel)) return [];
    const offer = offerOf(first);
    if (offer === undefined) return [];
    const startUs = first.exchange.timeline.dueUs;
    const after = responses
      .filter((response) => response.admitted && response.exchange.timeline.dueUs < startUs)
      .sort((a, b) => b.exchange.timeline.dueUs - a.exchange.timeline.dueUs)
      .find((response) => isFor(offer, response));
    if (after === undefined) return [];
    const upstreamFailures = responses.filter((response) => {
      const { dueUs, endUs } = response.exchange.timeline;
      return dueUs < startUs && endUs > startUs - COOL_DOWN_US && isUpstreamFailure(response, offer);
    }).length;
    return [{ ...offer, after, first, refused, until: own[served], upstreamFailures }];
  });
}

/** A listed model may fail without a check's doing; a failure of the refused model itself explains nothing. */
function isUpstreamFailure(response: Response, { model }: Offer): boolean {
  const { asked, status = 0 } = response;
  if (asked.upstreamFails === true) return true;
  return status >= 500 && asked.endpoint !== "models" && offerOf(response)?.model !== model;
}

/** Whether a request was refused because of one of these outages, so that it says nothing else about the gateway. */
export function isRefusedIn(outages: readonly Outage[], response: Response): boolean {
  if (outages.length === 0 || !refusesModel(response)) return false;
  // A 404 may be the denial that was expected; a server error never is.
  if (response.asked.intent === "denied" && response.status === 404) return false;
  const { dueUs } = response.exchange.timeline;
  return outages.some((outage) => {
    const { after, until } = outage;
    if (dueUs <= after.exchange.timeline.dueUs) return false;
    // A provider that is left alone may have served other models, too. What never recovered says nothing about the others.
    return until === undefined ? isFor(outage, response) : dueUs <= until.exchange.timeline.dueUs;
  });
}

/** An outage as a sentence. */
export function outageInWords({ endpoint, model, after, first, refused, until }: Outage): string {
  const last = until ?? refused.at(-1) ?? first;
  const seconds = (last.exchange.timeline.endUs - first.exchange.timeline.dueUs) / 1_000_000;
  const end = until === undefined ? "and was not served again" : `until ${until.id}`;
  return `\`${model}\` (${endpoint}) was served until ${after.id} and answered ${first.summary} afterwards, ${end} (${seconds.toFixed(1)} s)`;
}

/** What a request asked for, by its body. */
function offerOf({ exchange, asked: { endpoint } }: Response): Offer | undefined {
  const model = member(parseJson(exchange.request.body ?? ""), "model");
  return typeof model === "string" ? { endpoint, model } : undefined;
}

function isFor({ endpoint, model }: Offer, response: Response): boolean {
  return response.asked.endpoint === endpoint && offerOf(response)?.model === model;
}
