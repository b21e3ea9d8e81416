import type { Expected, Finding } from "../../src/record/index.ts";

/** The request that a requirement is about, where the status that it expects is not that of a valid request. */
const REJECTED: Readonly<Record<string, string>> = {
  "AUTH-2": "a request without a key",
  "AUTH-3": "a request with an invalid key",
  "AUTH-4": "a request with a revoked key",
  "AUTH-5": "a request with a malformed credential",
  "BAD-BODY": "a request whose body cannot be parsed",
  "BASE-4": "a request for an unknown path",
  "CHAT-10": "a request whose body cannot be parsed",
  "ERR-401-INVALID": "a request without a valid key",
  "ERR-401-REVOKED": "a request with a revoked key",
  "ERR-402-CREDITS": "a request from an account without credits",
  "ERR-402-QUOTA": "a request with a key at its spend cap",
  "ERR-404-MODEL": "a request for a model that is not enabled",
  "ERR-429-BUDGET": "a request with a child key whose budget is used up",
  "ERR-429-CONC": "a request over the concurrency limit",
  "ERR-429-RATE": "a request over the rate limit",
  "ERR-5XX-1": "a request that the gateway or its provider cannot complete",
  "HTTP-METHOD": "a request with an unsupported method",
  "HTTP-URL": "a request with a malformed path or an unknown query parameter",
  "MODELS-5": "a request for the model list without a valid key",
  "MSG-5": "a request without a valid max_tokens",
  "MSG-9": "a request without model or messages",
  "SPEND-2": "a request from an account without credits",
  "SPEND-8": "a request with a child key whose budget is used up",
  "STREAM-2": "a streaming request that must be rejected",
  "TOKENS-DENIAL": "a request over the token limit",
};

const SERVED: Readonly<Record<string, string>> = {
  "UPSTREAM-FAILOVER": "a request whose first provider fails",
};

/** The kind of request whose status was wrong, with a colon: `a request with a revoked key: `; empty if it is unknown. */
export function situationOf({ expected, requirements: [requirement = ""] }: Finding): string {
  const situation = expectsSuccess(expected)
    ? (SERVED[requirement] ?? "a valid request")
    : (REJECTED[requirement] ?? (expectsRejection(expected) ? "a request that must be rejected" : undefined));
  return situation === undefined ? "" : `${situation}: `;
}

const isSuccess = (status: unknown) => typeof status === "number" && status >= 200 && status < 300;

function expectsSuccess(expected: Expected | undefined): boolean {
  if (expected?.kind === "reply") return true;
  return expected?.kind === "status"
    ? expected.range === "2xx"
    : expected?.kind === "value" && isSuccess(expected.value);
}

/** Whether the gateway had to reject the request. False if the expectation only rules out some statuses, such as 5xx. */
export function expectsRejection(expected: Expected | undefined): boolean {
  const isRejection = (status: unknown) => typeof status === "number" && status >= 400 && status < 500;
  if (expected?.kind === "status") return expected.range === "4xx" || expected.range === "anything but 2xx";
  if (expected?.kind === "one-of") return expected.values.some(isRejection);
  return expected?.kind === "value" && isRejection(expected.value);
}
