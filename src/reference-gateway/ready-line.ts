import type { Limits } from "./accounts/tiers.ts";
import type { ReadyAccounts } from "./ready-accounts.ts";

/** Model ids by the part they can play for a client that tests. */
export const MODEL_ROLES = {
  chat: "echo-fast",
  messages: "echo-fast",
  stream: "echo-stream",
  slow: "slow",
  tools: "tool-caller",
  echo: "echo-fast",
  unknown: "no-such-model",
  upstreamError: "fail-500",
  upstreamTimeout: "fail-timeout",
  cutStream: "drop-midstream",
} as const;

/** Further models: a second plain one, and one that repeats everything it was given. */
export const EXTRA_MODELS = {
  second: "shout-fast",
  transcript: "transcript",
  upstreamHtml: "fail-html",
  upstreamUnauthorized: "fail-401",
  upstreamUnfunded: "fail-402",
  upstreamThrottled: "fail-429",
} as const;

/** What a started gateway says about itself. */
export interface ReadyLine extends ReadyAccounts {
  readonly event: "ready";
  readonly pid: number;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly models: typeof MODEL_ROLES;
  readonly extraModels: typeof EXTRA_MODELS;
  /** Of the account of `keys.valid`. */
  readonly limits: Limits;
}
