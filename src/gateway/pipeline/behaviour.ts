import type { ApiKey } from "../accounts/api-key.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { CompressedBytes } from "../encode/compress.ts";
import type { RateLimiter } from "../limits/rate-limiter.ts";
import type { Slots } from "../limits/slots.ts";
import type { Model } from "../providers/model-table.ts";
import type { Plan, ProviderFailure, ReplyPlan } from "../providers/plan.ts";
import type { Answer, Parcel, Step, StreamEvent } from "./answer.ts";
import type { Ask } from "./ask.ts";
import type { Call } from "./call.ts";
import type { Outcome } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";

/** The questions a request has to pass, by name. */
export type CheckName = "credentials" | "body" | "model" | "spending" | "rate" | "slot";

/** How a request ended, as far as money and slots are concerned. */
export interface Closing {
  readonly outcome: Outcome;
  readonly status: number;
  /** Output tokens that were handed to the connection. */
  readonly deliveredTokens: number;
}

/**
 * Everything the gateway decides, one function per decision. A defect or a legal variant is the same table with one
 * entry wrapped or replaced; functions therefore call each other through `call.behaviour`, never directly.
 *
 * In the order in which a request meets them:
 */
export interface Behaviour {
  /** From the request to what will be said. May take its time; the default does not. */
  answer(call: Call): Answer | Promise<Answer>;

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
  readAsk(call: Call): Ask | Refusal;
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
  /** The slots that this request takes one of. */
  slotsOf(key: ApiKey, call: Call): Slots;

  /** What the simulated provider will do. */
  plan(model: Model, ask: Ask, call: Call): Plan;
  /** How a provider's failure is told to the caller. */
  upstreamRefusal(failure: ProviderFailure, call: Call): Refusal;

  /** The answer that tells a refusal. */
  refuse(refusal: Refusal, call: Call): Answer;
  /** Value of `Retry-After`, or nothing for no such header. */
  retryAfter(refusal: Refusal, call: Call): string | undefined;
  listModels(call: Call): unknown;
  /** The whole reply. */
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
  seal(answer: Answer, call: Call): Parcel;
  /** Puts the bytes on the wire. Ends with exactly one call of `delivery.closed`. */
  deliver(parcel: Parcel, call: Call, delivery: Delivery): void;

  /** The first byte goes out. */
  began(call: Call): void;
  /** The request is over: frees its slot, then charges and records it. */
  ended(call: Call, closing: Closing): void;
  /** Frees the slot. */
  release(call: Call, closing: Closing): void;
  /** What the request costs, whole micro-dollars. */
  charge(call: Call, closing: Closing): number;
}
