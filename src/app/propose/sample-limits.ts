import type { RequestSpec, Response, Traffic } from "../../checks/index.ts";
import type { Dialect, Mode } from "../../dialects/index.ts";
import type { Reason } from "../../requirements/index.ts";
import type { Account, Key, Target } from "../../target/index.ts";
import type { DenialSample } from "./denial-sample.ts";

/** Higher limits are not reached for the sake of a few words. */
const MAX_RPM = 60;
const MAX_IN_FLIGHT = 16;
/** More than a limit of concurrency lets in. */
const BEYOND = 2;

/** A dialect that is served, and a model that answers in it. */
export interface Served {
  readonly dialect: Dialect;
  readonly id: string;
}

/**
 * The denials for the rate and for concurrency, one of each in each dialect: of the accounts under `limited` whose limits are so
 * low that a few requests reach them. Two windows of the rate at most are sent, since one may end in between.
 */
export async function sampleLimits(traffic: Traffic, served: readonly Served[]): Promise<DenialSample[]> {
  const { rate, concurrency } = sampledAccounts(traffic.target);
  return [
    ...(concurrency === undefined ? [] : await concurrencyDenials(traffic, concurrency, served)),
    ...(rate === undefined ? [] : await rateDenials(traffic, rate, served)),
  ];
}

/** The accounts whose limits a few requests reach. */
function sampledAccounts({ limited }: Target): { readonly rate?: Account; readonly concurrency?: Account } {
  // An account may have no limit of one kind, which is infinite: a difference would be no number.
  const byRate = [...limited].sort((a, b) => Number(a.limits.rpm > b.limits.rpm) - Number(a.limits.rpm < b.limits.rpm));
  const rate = byRate.find(({ limits }) => limits.rpm <= MAX_RPM);
  // The one with the highest rate limit: an account over its rate limit denies for the rate, however much is in flight.
  const widest = byRate.findLast(({ limits }) => limits.inFlight <= MAX_IN_FLIGHT);
  const concurrency = widest === rate ? undefined : widest;
  return { ...(rate !== undefined && { rate }), ...(concurrency !== undefined && { concurrency }) };
}

/** The most that `sampleLimits` sends. */
export function limitRequests(target: Target): number {
  const { rate, concurrency } = sampledAccounts(target);
  const dialects = target.dialects.length;
  return (
    (rate === undefined ? 0 : 2 * rate.limits.rpm + callersOf(rate, dialects)) +
    (concurrency === undefined ? 0 : (concurrency.limits.inFlight + BEYOND) * callersOf(concurrency, dialects))
  );
}

/** How often a limit is reached: in each dialect, and with each key of the account. */
const callersOf = ({ second }: Account, dialects: number): number => Math.max(dialects, second === undefined ? 1 : 2);

interface Caller extends Served {
  readonly key: Key;
}

/** The dialects and keys in turns: what the denials of two keys have in common is not the name of one. */
function callers({ key, second }: Account, served: readonly Served[]): Caller[] {
  const keys = second === undefined ? [key] : [key, second];
  const count = served.length === 0 ? 0 : Math.max(served.length, keys.length);
  return Array.from({ length: count }, (_, at) => ({
    ...(served[at % served.length] as Served),
    key: keys[at % keys.length] as Key,
  }));
}

function sampleOf(reason: Reason, kind: string, key: Key, response: Response): DenialSample {
  return {
    reason,
    kind,
    key: key.name,
    what: `${kind} on ${new URL(response.exchange.request.url).pathname}`,
    response,
  };
}

async function rateDenials(traffic: Traffic, account: Account, served: readonly Served[]): Promise<DenialSample[]> {
  const samples: DenialSample[] = [];
  const all = callers(account, served);
  let left = 2 * account.limits.rpm + all.length;
  for (const caller of all) {
    let response: Response | undefined;
    while (left-- > 0 && !isRefused(response)) response = await start(traffic, caller, "non-streaming").done;
    if (isRefused(response)) samples.push(sampleOf("rate_limit_exceeded", "too many requests", caller.key, response));
  }
  return samples;
}

async function concurrencyDenials(
  traffic: Traffic,
  account: Account,
  served: readonly Served[],
): Promise<DenialSample[]> {
  const samples: DenialSample[] = [];
  for (const caller of callers(account, served)) {
    const held = Array.from({ length: account.limits.inFlight + BEYOND }, () => start(traffic, caller, "streaming"));
    const refused = await Promise.any(
      held.map(async ({ done }) => {
        const response = await done;
        return isRefused(response) ? response : Promise.reject(response);
      }),
    ).catch(() => undefined);
    for (const each of held) each.abort();
    await Promise.all(held.map(({ done }) => done));
    if (refused !== undefined)
      samples.push(sampleOf("concurrency_limit_exceeded", "too many requests at once", caller.key, refused));
  }
  return samples;
}

/** Asks for a long answer of the model that the target file has for it, where it names one. */
function start(traffic: Traffic, { key, dialect, id }: Caller, mode: Mode) {
  const { slow, stream } = traffic.target.models[dialect];
  const model = mode === "streaming" ? { id: slow ?? stream ?? id } : { id };
  const request: RequestSpec = { key, model, intent: "denied", maxTokens: mode === "streaming" ? 256 : 8 };
  return traffic.start(request, { endpoint: dialect, mode });
}

function isRefused(response: Response | undefined): response is Response {
  const { status = 0 } = response ?? {};
  return status >= 400 && status < 500;
}
