import { type Mutation, mutation } from "../../change.ts";
import { coolDown } from "../../edits/cool-down.ts";
import { delayEvents, delayEventsWhile } from "../../edits/replica-edits.ts";
import { remembered } from "../../edits/when.ts";
import { type Apply, all, onRefusal, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { refusal } from "../../pipeline/refusal.ts";
import { serveUncounted } from "../../pipeline/respond.ts";
import type { GatewayResponse, RelayedPiece } from "../../pipeline/response.ts";

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

/** The response to a request that could not be decided without the shared state. */
function withoutStore(
  decide: (call: Call, denial: GatewayResponse) => GatewayResponse | Promise<GatewayResponse>,
): Apply {
  return wrap("respond", (next) => (call) => {
    const response = next(call);
    const isDenied = !(response instanceof Promise) && response.refusal?.reason === "store_unavailable";
    return isDenied ? decide(call, response) : response;
  });
}

/** From the first request that could not be decided, the other replicas' requests no longer count. */
const countOnlyOwnAfterOutage: Apply = (behaviour) => {
  let ignoresOthers = false;
  return all(
    withoutStore((_call, denial) => {
      ignoresOthers = true;
      return denial;
    }),
    delayEventsWhile(
      ({ kind }) => kind === "rate",
      () => ignoresOthers,
    ),
  )(behaviour);
};

/** While it shuts down, the gateway reports to the other replicas neither the requests that end nor that it has stopped. */
const hideReleasesDuringShutdown: Apply = (behaviour) => {
  let isStopping = false;
  return all(
    wrap("drainMs", (next) => (configuredMs) => {
      isStopping = true;
      return next(configuredMs);
    }),
    wrap("release", (next) => (call, closing) => {
      if (!isStopping) next(call, closing);
    }),
    delayEvents(({ kind }) => kind === "gone"),
  )(behaviour);
};

/** Uses this much CPU time, ms. */
function compute(cpuMs: number): void {
  const before = process.cpuUsage();
  const usedMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  while (usedMs() < cpuMs);
}

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
  mutation("disturbed.no-limits-without-store", {
    ...SHOWN,
    breaks: ["LIMIT-RATE-1"],
    summary: "Without the shared state, every request is served: no limit applies.",
    shownByEvents: { workload: "counter-store-limits", finding: "event.store-outage.admitted" },
    apply: withoutStore((call, denial) => (call.endpoint === "models" ? denial : serveUncounted(call))),
  }),
  mutation("disturbed.counts-alone-after-outage", {
    ...SHOWN,
    breaks: ["LIMIT-1"],
    summary:
      "After an outage of the shared state, each replica counts only its own requests, even when the state is back.",
    shownByEvents: { workload: "counter-store-limits", finding: "event.store-outage.admitted" },
    apply: countOnlyOwnAfterOutage,
  }),
  mutation("disturbed.stack-per-denial-without-store", {
    ...SHOWN,
    summary: "Without the shared state, a long stack trace is logged for every request.",
    shownByEvents: { workload: "counter-store-cost", finding: "event.store-outage.log-bytes-per-request" },
    apply: withoutStore((_call, denial) => {
      process.stderr.write(`${`${new Error("the shared state is not available").stack}\n`.repeat(5)}`);
      return denial;
    }),
  }),
  mutation("disturbed.busy-without-store", {
    ...SHOWN,
    summary: "Without the shared state, every request takes 60 ms of CPU time.",
    shownByEvents: { workload: "counter-store-cost", finding: "event.store-outage.cpu-per-request" },
    apply: withoutStore((_call, denial) => {
      compute(60);
      return denial;
    }),
  }),
  mutation("disturbed.drained-streams-stay-counted", {
    ...SHOWN,
    breaks: ["LIMIT-CONC-4"],
    summary: "Requests that end while their replica shuts down still count as in flight.",
    shownByEvents: { workload: "rolling-restart-capacity", finding: "event.restart.capacity-leaked" },
    apply: hideReleasesDuringShutdown,
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
