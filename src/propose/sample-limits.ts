import type { RequestSpec, Response, Traffic } from "../checks/index.ts";
import type { Dialect, Mode } from "../dialects/index.ts";
import type { Reason } from "../requirements/index.ts";
import type { Account, Key, Target } from "../target/index.ts";
import type { DenialSample } from "./denial-sample.ts";

/** Reaching higher limits would cost too many requests. */
const MAX_RPM = 60;
const MAX_IN_FLIGHT = 16;
/** More than the concurrency limit admits. */
const BEYOND = 2;

/** A dialect that is served, and a model that responds in it. */
export interface Served {
  readonly dialect: Dialect;
  readonly id: string;
}

/**
 * Denials by rate limit and by concurrency limit, one of each per dialect, from the accounts under `limited` whose limits are
 * low enough to reach with few requests. Sends at most two rate windows, since one may end in between.
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
  // Limits may be infinite if an account has none: a difference would be NaN.
  const byRate = [...limited].sort((a, b) => Number(a.limits.rpm > b.limits.rpm) - Number(a.limits.rpm < b.limits.rpm));
  const rate = byRate.find(({ limits }) => limits.rpm <= MAX_RPM);
  // The one with the highest rate limit: an account over its rate limit denies for the rate, however much is in flight.
  const widest = byRate.findLast(({ limits }) => limits.inFlight <= MAX_IN_FLIGHT);
  const concurrency = widest === rate ? undefined : widest;
  return { ...(rate !== undefined && { rate }), ...(concurrency !== undefined && { concurrency }) };
}

/** The maximum that `sampleLimits` sends. */
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

/** Dialects and keys alternate, so that the common text of two denials does not include the name of a key. */
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
      samples.push(sampleOf("concurrency_limit_exceeded", "too many concurrent requests", caller.key, refused));
  }
  return samples;
}

/** Requests a long reply from the model that the target file names for it, if any. */
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
