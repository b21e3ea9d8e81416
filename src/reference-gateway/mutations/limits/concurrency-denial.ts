import { sleep } from "../../../core/index.ts";
import { loadMutation, type Mutation } from "../../change.ts";
import { cutOff } from "../../edits/connection-edits.ts";
import { isAtConcurrencyLimit } from "../../edits/limit-scopes.ts";
import { always, remembered, streaming } from "../../edits/when.ts";
import { admitDespite, all, onDenial, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { refusal } from "../../pipeline/refusal.ts";

const TOO_MANY = ["LIMIT-CONC-2"];

/** A leaked lease lowers the limit the next time it is reached. */
const LEAK = ["LIMIT-CONC-4", "LIMIT-CONC-2"];

/** Side effects of a concurrency denial. */
export const CONCURRENCY_DENIAL_MUTATIONS: readonly Mutation[] = [
  loadMutation("concurrency.leaked-by-denials", {
    breaks: LEAK,
    summary: "Every concurrency denial counts as in flight forever.",
    apply: onDenial("concurrency_limit_exceeded", always, (response, call) => {
      if (call.key !== undefined) call.behaviour.concurrencyOf(call.key, call).take(Number.POSITIVE_INFINITY);
      return response;
    }),
    mayBreak: ["HTTP-RETRY-AFTER-FORM"],
  }),
  loadMutation("concurrency.denials-free-another", {
    breaks: [...TOO_MANY, "LIMIT-CONC-1"],
    summary: "Every concurrency denial removes another request from the in-flight count.",
    apply: (() => {
      const running = remembered(() => new Set<Call>());
      return all(
        wrap("began", (next) => (call) => {
          if (call.lease !== undefined) running(call).add(call);
          next(call);
        }),
        wrap("ended", (next) => (call, closing) => {
          running(call).delete(call);
          next(call, closing);
        }),
        onDenial("concurrency_limit_exceeded", always, (response, call) => {
          const [first] = [...running(call)].filter((other) => other.key?.account === call.key?.account);
          first?.lease?.release();
          if (first !== undefined) running(call).delete(first);
          return response;
        }),
      );
    })(),
  }),
  loadMutation("concurrency.queue-instead", {
    breaks: ["LIMIT-CONC-1", "ERR-429-CONC"],
    summary: "Requests over the concurrency limit are queued instead of denied.",
    apply: all(
      admitDespite("concurrency_limit_exceeded"),
      wrap("respond", (next) => async (call) => {
        while (isAtConcurrencyLimit(call)) await sleep(20);
        return next(call);
      }),
    ),
    mayBreak: ["LIMIT-CONC-2"],
  }),
  loadMutation("concurrency.oldest-stream-dropped", {
    breaks: ["LIMIT-CONC-7", "STREAM-3"],
    summary: "A request over the concurrency limit is denied, and the oldest running stream is aborted.",
    apply: (() => {
      const running = remembered(() => new Map<Call, () => void>());
      return all(
        wrap("deliver", (next) => (parcel, call, delivery) => {
          if (call.lease !== undefined && streaming(call)) running(call).set(call, () => delivery.response.destroy());
          next(parcel, call, delivery);
        }),
        wrap("ended", (next) => (call, closing) => {
          running(call).delete(call);
          next(call, closing);
        }),
        onDenial("concurrency_limit_exceeded", always, (response, call) => {
          for (const [other, cut] of running(call)) {
            if (other.key?.account !== call.key?.account) continue;
            cut();
            break;
          }
          return response;
        }),
      );
    })(),
  }),
  loadMutation("concurrency.denial-drops-connection", {
    breaks: ["LIMIT-CONC-1", "ERR-429-CONC", "LIMIT-CONC-6"],
    summary: "Requests over the concurrency limit get no response: the connection is dropped.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      if (call.refused?.reason === "concurrency_limit_exceeded") cutOff(delivery);
      else next(parcel, call, delivery);
    }),
  }),
  loadMutation("concurrency.denial-never-sent", {
    breaks: ["LIMIT-CONC-1", "ERR-429-CONC", "ANSWER-IN-TIME"],
    summary: "Requests over the concurrency limit never get a response.",
    apply: onDenial("concurrency_limit_exceeded", always, (response) => ({ ...response, afterMs: 3_600_000 })),
  }),
  loadMutation("concurrency.locked-when-full", {
    breaks: ["LIMIT-CONC-4"],
    summary: "After a concurrency denial the account is locked for half a minute.",
    apply: wrap("check", (next) => {
      const locked = remembered(() => new Map<string, number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "concurrency" || call.key === undefined) return refused;
        const nowUs = call.services.clock.monotonicUs();
        const { id } = call.key.account;
        if (refused !== undefined && !locked(call).has(id)) locked(call).set(id, nowUs);
        const since = locked(call).get(id);
        return (
          refused ??
          (since !== undefined && nowUs - since < 30_000_000
            ? refusal("concurrency_limit_exceeded", { waitMs: 1_000 })
            : undefined)
        );
      };
    }),
    mayBreak: ["LIMIT-CONC-3"],
  }),
];
