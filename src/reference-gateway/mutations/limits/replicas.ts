import { grid, type Mutation, mutation } from "../../change.ts";
import { delays } from "../../edits/connection-edits.ts";
import { delayEvents, isolateEvents, otherReplica, otherReplicaBusy } from "../../edits/replica-edits.ts";
import { both, inference } from "../../edits/when.ts";
import { admitDespite, wrap } from "../../edits/wrap.ts";
import { refusal } from "../../pipeline/refusal.ts";
import type { SharedEvent } from "../../shared/shared-event.ts";

const SHOWN = { shownBy: "checks" } as const;

/** Replicas that do not share what they must: each only shows where the gateway runs as several processes. */
export const REPLICA_MUTATIONS: readonly Mutation[] = [
  ...grid([], (kinds: readonly SharedEvent["kind"][]) => isolateEvents(...kinds), {
    "replicas.own-rate": {
      ...SHOWN,
      breaks: ["LIMIT-1", "LIMIT-RATE-6"],
      detectedBy: { "replicas.rate": "LIMIT-1" },
      summary: "Each replica counts the request rate separately, so the limit is multiplied by the number of replicas.",
      with: ["rate"],
    },
    "replicas.own-concurrency": {
      ...SHOWN,
      breaks: ["LIMIT-1", "LIMIT-CONC-2"],
      detectedBy: { "replicas.concurrency": "LIMIT-1" },
      summary: "Each replica counts requests in flight separately.",
      with: ["lease", "release"],
    },
    "replicas.own-cap": {
      ...SHOWN,
      breaks: ["ERR-402-QUOTA"],
      detectedBy: { "replicas.daily-cap": "ERR-402-QUOTA" },
      summary: "Each replica counts daily caps separately.",
      with: ["cap"],
    },
    "replicas.own-budget": {
      ...SHOWN,
      breaks: ["ERR-429-BUDGET"],
      detectedBy: { "replicas.lifetime-budget": "ERR-429-BUDGET" },
      summary: "Each replica counts lifetime budgets separately.",
      with: ["budget"],
    },
    "replicas.own-balance": {
      ...SHOWN,
      breaks: ["ERR-402-CREDITS"],
      detectedBy: { "replicas.balance": "ERR-402-CREDITS" },
      summary: "Each replica has its own copy of the balance.",
      with: ["balance"],
    },
    "replicas.release-unknown": {
      ...SHOWN,
      breaks: ["LIMIT-CONC-4"],
      detectedBy: { "replicas.release": "LIMIT-CONC-4" },
      summary: "The other replicas do not learn that a request has ended, and count it as in flight forever.",
      with: ["release"],
    },
  }),
  ...grid(["REPLICA-KEYS"], (about: (event: SharedEvent) => boolean) => delayEvents(about), {
    "replicas.created-key-unknown": {
      ...SHOWN,
      detectedBy: { "replicas.key-changes": "REPLICA-KEYS" },
      summary: "A new key is known only to the replica that created it.",
      with: (event) => event.kind === "key" && event.isNew,
    },
    "replicas.raised-cap-unknown": {
      ...SHOWN,
      detectedBy: { "replicas.key-changes": "REPLICA-KEYS" },
      summary: "A raised cap is known only to the replica where it was raised.",
      with: (event) => event.kind === "key" && !event.isNew && !event.saved.revoked,
    },
    "replicas.revocation-unknown": {
      ...SHOWN,
      detectedBy: { "replicas.key-changes": "REPLICA-KEYS" },
      summary: "A revoked key stays valid at the other replicas.",
      with: (event) => event.kind === "key" && !event.isNew && event.saved.revoked,
    },
  }),
  mutation("replicas.rate-known-late", {
    ...SHOWN,
    breaks: ["LIMIT-1", "LIMIT-RATE-6"],
    detectedBy: { "replicas.rate": "LIMIT-1" },
    summary: "What one replica admits counts at the others half a minute later.",
    apply: delayEvents(({ kind }) => kind === "rate", 30_000),
  }),
  mutation("replicas.own-retry-after", {
    ...SHOWN,
    breaks: ["LIMIT-RATE-6"],
    detectedBy: { "replicas.retry-after": "LIMIT-RATE-6" },
    summary: "All replicas but the first state a Retry-After of one second, as if their own window were empty.",
    apply: wrap("retryAfter", (next) => (refused, call) => {
      const value = next(refused, call);
      return refused.reason === "rate_limit_exceeded" && otherReplica(call) ? "1" : value;
    }),
  }),
  mutation("replicas.models-differ", {
    ...SHOWN,
    breaks: ["MODELS-4"],
    detectedBy: { "replicas.models": "MODELS-4" },
    summary: "All replicas but the first list one model fewer.",
    apply: wrap("listModels", (next) => (call) => {
      const list = next(call) as { readonly data: readonly unknown[] };
      return otherReplica(call) ? { ...list, data: list.data.slice(0, -1) } : list;
    }),
  }),
  mutation("replicas.second-serves-revoked", {
    ...SHOWN,
    breaks: ["AUTH-4", "ERR-401-REVOKED", "REPLICA-KEYS"],
    detectedBy: { "replicas.key-states": "AUTH-4" },
    summary: "All replicas but the first serve revoked keys.",
    apply: admitDespite("key_revoked", otherReplica),
  }),
  mutation("replicas.second-serves-unfunded", {
    ...SHOWN,
    breaks: ["ERR-402-CREDITS", "SPEND-2"],
    detectedBy: { "replicas.key-states": "SPEND-2", "replicas.balance": "ERR-402-CREDITS" },
    summary: "All replicas but the first serve accounts without balance.",
    apply: admitDespite("insufficient_credits", otherReplica),
  }),
  mutation("replicas.wait-for-each-other", {
    ...SHOWN,
    breaks: ["REPLICA-ISOLATION"],
    detectedBy: { "replicas.isolation": "REPLICA-ISOLATION" },
    summary: "A replica is a second slower while another one is busy.",
    apply: delays(both(inference, otherReplicaBusy(2)), () => 1_000),
  }),
  mutation("replicas.fail-with-each-other", {
    ...SHOWN,
    breaks: ["REPLICA-ISOLATION"],
    // A request that fails is not denied.
    mayBreak: ["SPEND-2", "SPEND-7", "SPEND-8"],
    detectedBy: { "replicas.isolation": "REPLICA-ISOLATION" },
    summary: "A replica fails requests while another one is busy.",
    apply: wrap("check", (next) => (name, call) => {
      if (name === "model" && otherReplicaBusy(2)(call)) return refusal("internal_error");
      return next(name, call);
    }),
  }),
];
