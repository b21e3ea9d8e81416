import type { Endpoint } from "../../dialects/index.ts";
import type { Target } from "../../target/index.ts";
import { UndeclaredDialect } from "../declare/need.ts";
import type { RequestSpec } from "../declare/request-spec.ts";
import { accountOfKey, limitsOfAccount } from "../fixtures/account-of-key.ts";
import type { RequestInfo } from "../response/response.ts";
import { failsUpstream } from "./server-errors.ts";
import type { SendDefaults } from "./traffic-options.ts";

/** Adds the key of the check to a request that names none. */
export function withDefaultKey(request: RequestSpec, { key }: SendDefaults): RequestSpec {
  return key === undefined || request.key !== undefined || request.authorization !== undefined
    ? request
    : { ...request, key };
}

/** @throws UndeclaredDialect if the target does not serve the dialect and no other dialect is acceptable. */
export function endpointOf(request: RequestSpec, defaults: SendDefaults, { dialects }: Target): Endpoint {
  const { endpoint = defaults.endpoint } = request;
  const [served] = dialects;
  if (endpoint === "models" || dialects.includes(endpoint)) return endpoint;
  if (defaults.anyDialect === true && served !== undefined) return served;
  throw new UndeclaredDialect(endpoint, dialects);
}

/** Name of the account that a request counts against; `none` without a known key. */
export function accountOf({ key, authorization }: RequestSpec): string {
  if (authorization !== undefined || key === null) return "none";
  return accountOfKey(typeof key === "object" ? key : (key ?? "valid"));
}

type Sent = Pick<RequestInfo, "endpoint" | "mode" | "intent" | "account" | "repeats"> & {
  /** Unique text of the default prompt. */
  readonly nonce: string;
};

/** What is needed of a request to read its response. */
export function requestInfoOf(request: RequestSpec, { nonce, repeats, ...sent }: Sent, target: Target): RequestInfo {
  const rpm = sent.account === "none" ? undefined : limitsOfAccount(target, sent.account)?.rpm;
  return {
    ...sent,
    ...(rpm === undefined || !Number.isFinite(rpm) ? {} : { rpm }),
    ...(request.prompt === undefined && request.rawBody === undefined ? { nonce } : {}),
    ...(repeats === undefined ? {} : { repeats }),
    ...(failsUpstream(request, target.models) && { upstreamFails: true }),
    ...(request.probe === true && { probe: true }),
    ...(request.recoveryOf === undefined ? {} : { recoveryOf: request.recoveryOf }),
  };
}
