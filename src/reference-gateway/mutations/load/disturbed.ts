import { type Mutation, mutation } from "../../change.ts";
import { coolDown } from "../../edits/cool-down.ts";
import { delayEvents } from "../../edits/replica-edits.ts";
import { remembered } from "../../edits/when.ts";
import { type Apply, onRefusal, wrap } from "../../edits/wrap.ts";
import { refusal } from "../../pipeline/refusal.ts";
import type { RelayedPiece } from "../../pipeline/response.ts";

/** Requests to providers wait for each other, streams until their end. */
const oneProviderConnection: Apply = (behaviour) => {
  const queue = remembered(() => ({ free: Promise.resolve() }));
  const releases = new WeakMap<object, () => void>();
  return {
    ...behaviour,
    async respond(call) {
      const before = queue(call).free;
      queue(call).free = new Promise((resolve) => releases.set(call, resolve));
      await before;
      const response = await behaviour.respond(call);
      // A stream has only begun.
      if (response.body.kind !== "relayed") releases.get(call)?.();
      return response;
    },
    async *relayStream(pieces, call): AsyncGenerator<RelayedPiece> {
      try {
        yield* behaviour.relayStream(pieces, call);
      } finally {
        releases.get(call)?.();
      }
    },
  };
};

const SHOWN = { breaks: ["STEADY-SERVICE"], shownBy: "checks" } as const;

/** Defects that only show when something happens to the gateway: `npm run verify disturbance` is about them. */
export const DISTURBED_MUTATIONS: readonly Mutation[] = [
  mutation("disturbed.streams-cut-at-stop", {
    ...SHOWN,
    summary: "A gateway that stops does not wait for requests in flight.",
    shownByEvents: { workload: "rolling-restart", finding: "event.restart.truncated-streams" },
    apply: wrap("drainMs", () => () => 0),
  }),
  mutation("disturbed.killed-replica-counts", {
    ...SHOWN,
    breaks: ["LIMIT-CONC-4"],
    summary: "What a killed replica had in flight counts forever.",
    shownByEvents: { workload: "kill", finding: "event.kill.recovered" },
    apply: delayEvents(({ kind }) => kind === "gone"),
  }),
  mutation("disturbed.store-failure-as-500", {
    ...SHOWN,
    summary: "Without the shared state, requests get 500 and no Retry-After.",
    shownByEvents: { workload: "counter-store-outage", finding: "event.store-outage.failed" },
    apply: onRefusal(
      "store_unavailable",
      () => true,
      () => refusal("internal_error"),
    ),
  }),
  mutation("disturbed.circuit-stays-open", {
    ...SHOWN,
    summary: "After five failures of providers, no provider is called again.",
    shownByEvents: { workload: "upstream-outage", finding: "event.upstream-outage.recovered" },
    apply: coolDown({ afterFailures: 5, lastsMs: Number.POSITIVE_INFINITY }),
  }),
  mutation("disturbed.one-provider-connection", {
    ...SHOWN,
    summary:
      "Requests to providers use one connection, one after the other: what waits during a slow period waits long after it.",
    shownByEvents: { workload: "slow-upstream", finding: "event.slow-upstream.recovered" },
    apply: oneProviderConnection,
  }),
];
