import type { IncomingHttpHeaders } from "node:http";
import { type JsonObject, member } from "../../core/index.ts";
import type { ApiKey } from "../accounts/account.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { CompressedBytes } from "../encode/compress.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Activity } from "../history.ts";
import type { ConcurrencyLimiter, Lease } from "../limiters/concurrency-limiter.ts";
import type { RateLimiter } from "../limiters/rate-limiter.ts";
import type { CountedTokens, TokenLimiter } from "../limiters/token-limiter.ts";
import type { Model } from "../providers/model-table.ts";
import type { Plan, ProviderFailure, ReplyPlan } from "../providers/plan.ts";
import type { FailedAttempt, NextAttempt, ProviderRequest } from "../relay/attempt.ts";
import type { UpstreamProvider } from "../relay/upstream.ts";
import type { Usage } from "../relay/usage.ts";
import type { Services } from "../services.ts";
import type { SharedEvent } from "../shared/shared-event.ts";
import type { Closing } from "./outcome.ts";
import type { InferenceRequest } from "./read/inference-request.ts";
import type { Refusal } from "./refusal.ts";
import type { GatewayResponse, Parcel, RelayedPiece, Step, StreamEvent } from "./response.ts";

/** The connection of a request. */
export interface Connection {
  /** 1 for the first connection of the gateway. */
  readonly id: number;
  /** Earlier requests on this connection. */
  readonly served: number;
}

/** How a request is handled, based on its path and method alone. */
export type Purpose = "serve" | "options" | "unknownPath" | "wrongMethod";

/** A request as it was received. */
export interface Arrival {
  readonly endpoint: Endpoint;
  readonly purpose: Purpose;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly connection: Connection;
  /** Monotonic microseconds at which the head of the request was complete. */
  readonly arrivedUs: number;
  /** Wall clock at that time, Unix epoch milliseconds. */
  readonly arrivedMs: number;
}

/** One request on its way through the gateway. Its fields are filled in step by step. */
export class Call {
  readonly id: string;
  /** 1 for the first request of the gateway. */
  readonly number: number;
  readonly arrival: Arrival;
  readonly services: Services;
  /** Fixed at arrival: a mutation that is enabled later does not affect requests in flight. */
  readonly behaviour: Behaviour;
  /** The parsed body; `undefined` if it could not be parsed. */
  parsed: unknown;
  /** Why the body could not be read. */
  bodyError: Refusal | undefined;
  /** The body as text; empty if it is not text. */
  bodyText = "";
  key: ApiKey | undefined;
  request: InferenceRequest | undefined;
  model: Model | undefined;
  plan: Plan | undefined;
  lease: Lease | undefined;
  /** Why the request was refused, if it was. */
  refused: Refusal | undefined;
  /** Fired when the client has left; present if requests go to a real provider. */
  left: AbortSignal | undefined;
  /** Tokens counted by a real provider. */
  usage: Partial<Usage> | undefined;
  /** Attempts at real providers that failed before one served the request, or the last one failed. */
  failedAttempts = 0;
  /** Why a real provider did not serve the request, or not completely. */
  upstreamFailure: ProviderFailure | undefined;
  /** Tokens counted toward the token limit, once admitted; present if its account has one. */
  tokens: CountedTokens | undefined;
  /** Charge reserved while the request is in flight, micro-dollars. */
  reservedMicroUsd = 0;

  constructor(id: string, number: number, arrival: Arrival, services: Services, behaviour: Behaviour) {
    this.id = id;
    this.number = number;
    this.arrival = arrival;
    this.services = services;
    this.behaviour = behaviour;
  }

  get endpoint(): Endpoint {
    return this.arrival.endpoint;
  }

  /** Whether the client requests a stream, as far as the body could be read. */
  get wantsStream(): boolean {
    return member(this.parsed, "stream") === true;
  }

  /** The dialect of error bodies. */
  get dialect(): "chat" | "messages" {
    return this.arrival.endpoint === "messages" ? "messages" : "chat";
  }
}

/** The checks that a request has to pass, by name. */
export type CheckName = "credentials" | "body" | "model" | "spending" | "rate" | "tokens" | "concurrency";

/**
 * Everything the gateway decides, one function per decision. A mutation or a variant is the same table with one entry wrapped
 * or replaced; functions therefore call each other through `call.behaviour`, never directly.
 *
 * In the order in which a request passes them:
 */
export interface Behaviour {
  /** Whether the body is read before the request is decided. Otherwise the body stays unread, and the connection is closed. */
  readsBody(call: Call): boolean;

  /** Decides the response to a request. May be asynchronous; the default is not. */
  respond(call: Call): GatewayResponse | Promise<GatewayResponse>;

  /** The checks of an inference request, in order. */
  readonly inferenceChecks: readonly CheckName[];
  /** The checks of a listing request, in order. */
  readonly listingChecks: readonly CheckName[];
  /** Runs one check. @returns why the request is refused, or nothing when it passes. */
  check(name: CheckName, call: Call): Refusal | undefined;

  /** The text of the key that the request presents; nothing when it presents none that can be read. */
  presentedKey(call: Call): string | undefined;
  /** The key with that text. */
  findKey(secret: string, call: Call): ApiKey | undefined;
  keyRevoked(key: ApiKey, call: Call): boolean;
  /** Reads and validates the body. */
  readRequest(call: Call): InferenceRequest | Refusal;
  findModel(id: string, call: Call): Model | undefined;

  /** True when the account has nothing left for new paid requests. */
  balanceExhausted(key: ApiKey, call: Call): boolean;
  capReached(key: ApiKey, call: Call): boolean;
  budgetUsed(key: ApiKey, call: Call): boolean;
  /** Reserved charges of requests in flight that count as spent by the key. */
  heldBack(key: ApiKey, call: Call): number;
  /** Milliseconds until a charge appears in the key's tallies. */
  settlingLagMs(call: Call): number;
  /** The UTC day, or its replacement, by which a daily cap is counted. */
  capDay(call: Call): number;

  /** The limiter that counts this request. */
  limiterOf(key: ApiKey, call: Call): RateLimiter;
  /** Counts an admitted request. */
  countRate(limiter: RateLimiter, call: Call): void;
  /** The token limiter that counts this request; nothing if its account has no such limit. */
  tokenLimiterOf(key: ApiKey, call: Call): TokenLimiter | undefined;
  /** Tokens that a request counts as when it is admitted. */
  tokensOf(call: Call): number;
  /** Tokens that it counts as when it has ended; nothing if they do not change. */
  tokensAtEnd(call: Call, closing: Closing): number | undefined;
  /** The concurrency limiter that counts this request. */
  concurrencyOf(key: ApiKey, call: Call): ConcurrencyLimiter;

  /** What the simulated provider will do. */
  plan(model: Model, request: InferenceRequest, call: Call): Plan;
  /** Which real provider is called next, and when, after the failed ones; nothing when no more are called. */
  nextProvider(failed: readonly FailedAttempt[], call: Call): NextAttempt | undefined;
  /** The request to a real provider. */
  providerRequest(call: Call, provider: UpstreamProvider): ProviderRequest;
  /** A real provider's non-streaming reply, as the caller gets it. */
  relayReply(value: unknown, call: Call): unknown;
  /** A real provider's stream, as the caller gets it. */
  relayStream(pieces: AsyncIterable<RelayedPiece>, call: Call): AsyncIterable<RelayedPiece>;
  /** How a provider's failure is reported to the caller. */
  upstreamRefusal(failure: ProviderFailure, call: Call): Refusal;

  /** The response to a refused request. */
  refuse(refusal: Refusal, call: Call): GatewayResponse;
  /** Value of `Retry-After`; nothing to omit the header. */
  retryAfter(refusal: Refusal, call: Call): string | undefined;
  listModels(call: Call): unknown;
  /** The non-streaming reply. */
  reply(plan: ReplyPlan, call: Call): unknown;
  /** The events of a streamed reply. */
  events(plan: ReplyPlan, call: Call): Iterable<StreamEvent>;

  /** One event as it appears in the stream. */
  frame(event: StreamEvent, call: Call): string;
  /** Groups framed events into the pieces that are written together. */
  pack(steps: Iterable<Step>, call: Call): Iterable<Step>;
  /** JSON text of a value. */
  json(value: unknown, call: Call): string;
  compress(bytes: Buffer, call: Call): CompressedBytes;
  /** Encodes a response. */
  seal(response: GatewayResponse, call: Call): Parcel;
  /** Writes the bytes. Ends with exactly one call of `delivery.closed`. */
  deliver(parcel: Parcel, call: Call, delivery: Delivery): void;

  /** The first byte is sent. */
  began(call: Call): void;
  /** The request has ended: ends its lease, then charges and records it. */
  ended(call: Call, closing: Closing): void;
  /** Ends the lease. */
  release(call: Call, closing: Closing): void;
  /** What the request costs, whole micro-dollars. */
  charge(call: Call, closing: Closing): number;
  /** The tokens that it is charged for, and recorded with. */
  usage(call: Call, closing: Closing): Usage;
  /** What these tokens cost, whole micro-dollars. */
  cost(model: Model, usage: Usage, call: Call): number;
  /** The rows of the history for a request. Their charges are what its account pays. */
  records(row: Activity, call: Call): readonly Activity[];

  /** Milliseconds until a row appears in the ledger. */
  ledgerLagMs(row: Activity): number;
  /** Rows of a key's ledger, in this order. @param own all rows of the key in the requested time. @param all of all keys. */
  ledgerRows(own: readonly Activity[], all: readonly Activity[]): readonly Activity[];
  /** A row as the ledger shows it. */
  ledgerEntry(row: Activity, key: string): JsonObject;
  /** Totals of all rows. */
  ledgerTotals(rows: readonly Activity[]): JsonObject;
  /** Rows per page. */
  readonly ledgerPageRows: number;

  /** Milliseconds that a gateway which stops waits for requests in flight. */
  drainMs(configuredMs: number): number;

  /** Milliseconds until an event of another replica is known to this one; `undefined`: never. */
  propagationDelayMs(event: SharedEvent, replica: number): number | undefined;
}
