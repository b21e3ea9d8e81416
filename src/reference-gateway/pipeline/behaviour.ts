import type { IncomingHttpHeaders } from "node:http";
import { member } from "../../core/index.ts";
import type { ApiKey } from "../accounts/account.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { CompressedBytes } from "../encode/compress.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ConcurrencyLimiter, Lease } from "../limits/concurrency-limiter.ts";
import type { RateLimiter } from "../limits/rate-limiter.ts";
import type { CountedTokens, TokenLimiter } from "../limits/token-limiter.ts";
import type { Model } from "../providers/model-table.ts";
import type { Plan, ProviderFailure, ReplyPlan } from "../providers/plan.ts";
import type { Services } from "../services.ts";
import type { FailedAttempt, NextAttempt, ProviderRequest } from "../upstream/attempt.ts";
import type { UpstreamProvider } from "../upstream/upstream.ts";
import type { Usage } from "../upstream/usage.ts";
import type { InferenceRequest } from "./inference-request.ts";
import type { Closing } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";
import type { GatewayResponse, Parcel, RelayedPiece, Step, StreamEvent } from "./response.ts";

/** The connection that a request came on. */
export interface Connection {
  /** 1 for the first connection of the gateway. */
  readonly id: number;
  /** Requests that came on it before this one. */
  readonly served: number;
}

/** What can be done with a request, going by its path and method alone. */
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
  /** Monotonic microseconds at which the head of the request was there. */
  readonly arrivedUs: number;
  /** Wall clock at that moment, Unix epoch milliseconds. */
  readonly arrivedMs: number;
}

/** One request on its way through the gateway. What is found out about it is filled in step by step. */
export class Call {
  readonly id: string;
  /** 1 for the first request of the gateway. */
  readonly number: number;
  readonly arrival: Arrival;
  readonly services: Services;
  /** Fixed at arrival: a defect that is switched on later does not touch requests that run already. */
  readonly behaviour: Behaviour;
  /** The body, parsed; `undefined` when it could not be. */
  parsed: unknown;
  /** Why the body could not be read. */
  bodyError: Refusal | undefined;
  /** The body as text; empty when it is none. */
  bodyText = "";
  key: ApiKey | undefined;
  request: InferenceRequest | undefined;
  model: Model | undefined;
  plan: Plan | undefined;
  lease: Lease | undefined;
  /** Why the request was refused, once it was. */
  refused: Refusal | undefined;
  /** Fired when the client has left; there where requests go to a real provider. */
  left: AbortSignal | undefined;
  /** What a real provider counted. */
  usage: Partial<Usage> | undefined;
  /** Why a real provider did not serve the request, or not to its end. */
  upstreamFailure: ProviderFailure | undefined;
  /** What it counts as toward a limit on tokens, once it was admitted; there where its account has one. */
  tokens: CountedTokens | undefined;
  /** Charge that is held back while the request runs, micro-dollars. */
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

  /** The client asks for a stream, as far as the body could be read. */
  get wantsStream(): boolean {
    return member(this.parsed, "stream") === true;
  }

  /** The dialect that errors are written in. */
  get dialect(): "chat" | "messages" {
    return this.arrival.endpoint === "messages" ? "messages" : "chat";
  }
}

/** The questions a request has to pass, by name. */
export type CheckName = "credentials" | "body" | "model" | "spending" | "rate" | "tokens" | "concurrency";

/**
 * Everything the gateway decides, one function per decision. A defect or a legal variant is the same table with one
 * entry wrapped or replaced; functions therefore call each other through `call.behaviour`, never directly.
 *
 * In the order in which a request meets them:
 */
export interface Behaviour {
  /** Whether the body is read before the request is decided. One that is not is left unread, and its connection is closed. */
  readsBody(call: Call): boolean;

  /** From the request to what will be said. May take its time; the default does not. */
  respond(call: Call): GatewayResponse | Promise<GatewayResponse>;

  /** The checks of an inference request, in their order. */
  readonly inferenceChecks: readonly CheckName[];
  /** The checks of a listing request, in their order. */
  readonly listingChecks: readonly CheckName[];
  /** Runs one check. @returns why the request is refused, or nothing when it may go on. */
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
  /** Charges of running requests that count as spent by the key. */
  heldBack(key: ApiKey, call: Call): number;
  /** Milliseconds until a charge shows in the key's tallies. */
  settlingLagMs(call: Call): number;
  /** The UTC day, or whatever stands for it, that a daily cap counts by. */
  capDay(call: Call): number;

  /** The limiter that counts this request. */
  limiterOf(key: ApiKey, call: Call): RateLimiter;
  /** Counts an admitted request. */
  countRate(limiter: RateLimiter, call: Call): void;
  /** The limiter of tokens that counts this request; nothing where its account has no such limit. */
  tokenLimiterOf(key: ApiKey, call: Call): TokenLimiter | undefined;
  /** Tokens that a request counts as when it is admitted. */
  tokensOf(call: Call): number;
  /** Tokens that it counts as when it is over; nothing where they stay what they were. */
  tokensAtEnd(call: Call, closing: Closing): number | undefined;
  /** The limiter of in-flight requests that counts this one. */
  concurrencyOf(key: ApiKey, call: Call): ConcurrencyLimiter;

  /** What the simulated provider will do. */
  plan(model: Model, request: InferenceRequest, call: Call): Plan;
  /** Which real provider is asked next, and when, after those that failed; nothing when no more is asked. */
  nextProvider(failed: readonly FailedAttempt[], call: Call): NextAttempt | undefined;
  /** What a real provider is sent. */
  providerRequest(call: Call, provider: UpstreamProvider): ProviderRequest;
  /** A real provider's non-streaming reply, as the caller gets it. */
  relayReply(value: unknown, call: Call): unknown;
  /** A real provider's stream, as the caller gets it. */
  relayStream(pieces: AsyncIterable<RelayedPiece>, call: Call): AsyncIterable<RelayedPiece>;
  /** How a provider's failure is reported to the caller. */
  upstreamRefusal(failure: ProviderFailure, call: Call): Refusal;

  /** The answer to a refused request. */
  refuse(refusal: Refusal, call: Call): GatewayResponse;
  /** Value of `Retry-After`, or nothing for no such header. */
  retryAfter(refusal: Refusal, call: Call): string | undefined;
  listModels(call: Call): unknown;
  /** The non-streaming reply. */
  reply(plan: ReplyPlan, call: Call): unknown;
  /** The events of a streamed reply. */
  events(plan: ReplyPlan, call: Call): Iterable<StreamEvent>;

  /** One event as it stands in the stream. */
  frame(event: StreamEvent, call: Call): string;
  /** Groups framed events into the pieces that are written together. */
  pack(steps: Iterable<Step>, call: Call): Iterable<Step>;
  /** JSON text of a value. */
  json(value: unknown, call: Call): string;
  compress(bytes: Buffer, call: Call): CompressedBytes;
  /** Puts an answer into bytes. */
  seal(response: GatewayResponse, call: Call): Parcel;
  /** Puts the bytes on the wire. Ends with exactly one call of `delivery.closed`. */
  deliver(parcel: Parcel, call: Call, delivery: Delivery): void;

  /** The first byte goes out. */
  began(call: Call): void;
  /** The request is over: ends its lease, then charges and records it. */
  ended(call: Call, closing: Closing): void;
  /** Ends the lease. */
  release(call: Call, closing: Closing): void;
  /** What the request costs, whole micro-dollars. */
  charge(call: Call, closing: Closing): number;
}
