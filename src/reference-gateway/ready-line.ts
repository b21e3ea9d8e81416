import type { Limits } from "./accounts/tiers.ts";
import type { VariantContract } from "./change.ts";
import type { LedgerDescription } from "./ledger/description.ts";
import type { ReadyAccounts, TokenLimitedKey } from "./ready-accounts.ts";

/** Model ids by the role they play for a test client. */
export const MODEL_ROLES = {
  chat: "echo-fast",
  messages: "echo-fast",
  stream: "echo-stream",
  slow: "slow",
  tools: "tool-caller",
  images: "image-reader",
  structured: "json-writer",
  echo: "echo-fast",
  unknown: "no-such-model",
  upstreamError: "fail-500",
  upstreamTimeout: "fail-timeout",
  cutStream: "drop-midstream",
} as const;

/** Further models: a second plain one, and one that repeats all its input. */
export const EXTRA_MODELS = {
  second: "shout-fast",
  transcript: "transcript",
  upstreamHtml: "fail-html",
  upstreamUnauthorized: "fail-401",
  upstreamUnfunded: "fail-402",
  upstreamThrottled: "fail-429",
} as const;

/** Roles of the models of a real provider: nothing is known about them, so the first is used for all. */
export function rolesOf([first]: readonly string[]): ReadyLine["models"] {
  return { chat: first, messages: first, stream: first, unknown: MODEL_ROLES.unknown } as ReadyLine["models"];
}

/** What a started gateway prints about itself. */
export interface ReadyLine extends ReadyAccounts {
  readonly event: "ready";
  readonly pid: number;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Of all replicas, if there are several; the first is `baseUrl`. */
  readonly addresses?: readonly string[];
  readonly replicas?: readonly Pick<ReadyLine, "pid" | "baseUrl" | "adminUrl" | "adminToken">[];
  /** The file that the replicas share. */
  readonly shared?: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly models: Readonly<Partial<Record<keyof typeof MODEL_ROLES, string>>>;
  readonly extraModels: Readonly<Partial<Record<keyof typeof EXTRA_MODELS, string>>>;
  /** What a target file has to declare about its variants. */
  readonly contract?: VariantContract;
  /** Of the account of `keys.valid`. */
  readonly limits: Limits;
  /** An account with a limit on tokens per minute, if the gateway was started with one. */
  readonly tokenLimits?: TokenLimitedKey;
  /** What a target file has to declare about the ledger, if there are real providers. */
  readonly ledger?: LedgerDescription;
  /** Providers of `gauntlet upstream` that were started with the gateway, and how it uses them. */
  readonly upstream?: {
    readonly controlUrl: string;
    readonly controlToken: string;
    /** Model of the gateway that they serve. */
    readonly model: string;
    /** Maximum number of provider requests per client request. */
    readonly attempts: number;
    /** Names of the providers, in the order in which they are called. */
    readonly failover: readonly string[];
  };
}
