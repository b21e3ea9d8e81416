import { deliver } from "../delivery/deliver.ts";
import { chatEvents } from "../encode/chat-events.ts";
import { chatReply } from "../encode/chat-reply.ts";
import { compress } from "../encode/compress.ts";
import { frame } from "../encode/event-frame.ts";
import { messagesEvents } from "../encode/messages-events.ts";
import { messagesReply } from "../encode/messages-reply.ts";
import { listModels } from "../encode/model-list.ts";
import { seal } from "../encode/seal.ts";
import { isCharged, ledgerEntry, ledgerTotals } from "../ledger/ledger.ts";
import { costOf } from "../providers/model-table.ts";
import { nextInOrder, providerRequest, relayReply } from "../relay/relay.ts";
import type { Behaviour } from "./behaviour.ts";
import { check } from "./checks.ts";
import { presentedKey } from "./credentials.ts";
import { endCall, releaseLease } from "./end-call.ts";
import { readRequest } from "./read/read-request.ts";
import { refuse, retryAfter, upstreamRefusal } from "./refuse.ts";
import { planCall, respond } from "./respond.ts";
import { balanceExhausted, budgetUsed, capDay, capReached, charge, usageOfCall } from "./spending.ts";
import { tokensAtEnd, tokensOf } from "./tokens.ts";

/** A gateway without defects. */
export const DEFAULT_BEHAVIOUR: Behaviour = {
  readsBody: () => true,

  respond,

  inferenceChecks: ["credentials", "body", "model", "spending", "rate", "tokens", "concurrency"],
  // Listing is free: it counts neither toward the rate nor as in flight.
  listingChecks: ["credentials"],
  check,

  presentedKey,
  findKey: (secret, call) => call.services.accounts.find(secret),
  keyRevoked: (key) => key.revoked,
  readRequest,
  findModel: (id, call) => call.services.models.get(id),

  balanceExhausted,
  capReached,
  budgetUsed,
  heldBack: (key) => key.spend.reserved,
  settlingLagMs: (call) => call.services.settlingLagMs,
  capDay,

  limiterOf: (key) => key.account.limiter,
  countRate: (limiter, call) => limiter.count(call.services.clock.monotonicUs()),
  tokenLimiterOf: (key) => key.account.tokens,
  tokensOf,
  tokensAtEnd,
  concurrencyOf: (key) => key.account.concurrency,

  plan: planCall,
  nextProvider: nextInOrder,
  providerRequest,
  relayReply,
  relayStream: (pieces) => pieces,
  upstreamRefusal,

  refuse,
  retryAfter,
  listModels,
  reply: (plan, call) => (call.dialect === "messages" ? messagesReply(plan, call) : chatReply(plan, call)),
  events: (plan, call) => (call.dialect === "messages" ? messagesEvents(plan, call) : chatEvents(plan, call)),

  frame,
  pack: (steps) => steps,
  json: (value) => JSON.stringify(value),
  compress: (bytes, call) => compress(bytes, call.arrival.headers["accept-encoding"]),
  seal,
  deliver,

  began: () => {},
  ended: endCall,
  release: releaseLease,
  charge,
  usage: usageOfCall,
  cost: costOf,
  records: (row) => [row],

  ledgerLagMs: () => 0,
  ledgerRows: (own) => own.filter(isCharged),
  ledgerEntry,
  ledgerTotals,
  ledgerPageRows: 100,

  drainMs: (configuredMs) => configuredMs,
  propagationDelayMs: () => 0,
};
