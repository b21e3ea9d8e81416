import type { Call } from "../pipeline/behaviour.ts";
import { type Refusal, refusal } from "../pipeline/refusal.ts";
import type { ProviderFailure } from "../providers/plan.ts";
import { remembered } from "./when.ts";
import { type Apply, all, wrap } from "./wrap.ts";

export interface CoolDown {
  /** Upstream failures within ten seconds that open the circuit. */
  readonly afterFailures: number;
  readonly lastsMs: number;
  /** What callers get while it is open; default: the same as for a failing provider. */
  readonly refuse?: (call: Call) => Refusal;
}

const WITHIN_US = 10_000_000;
/** The failure reported while no provider is called. */
const CIRCUIT_OPEN: ProviderFailure = { status: 503, body: "left alone after failures" };

/** Stops calling all providers for a while when some of their requests failed: a circuit breaker. */
export function coolDown({ afterFailures, lastsMs, refuse = () => refusal("upstream_error") }: CoolDown): Apply {
  const state = remembered(() => ({ failedUs: [] as number[], untilUs: Number.NEGATIVE_INFINITY }));
  const nowUs = (call: Call) => call.services.clock.monotonicUs();
  return all(
    wrap("plan", (next) => (model, request, call) => {
      const isOpen = nowUs(call) < state(call).untilUs;
      return isOpen ? { kind: "failure", failure: CIRCUIT_OPEN, afterMs: 0 } : next(model, request, call);
    }),
    wrap("upstreamRefusal", (next) => (failure, call) => {
      if (failure === CIRCUIT_OPEN) return refuse(call);
      // It is not a provider failure if the caller left.
      if (call.left?.aborted === true) return next(failure, call);
      const own = state(call);
      const now = nowUs(call);
      own.failedUs = [...own.failedUs.filter((us) => us > now - WITHIN_US), now];
      if (own.failedUs.length >= afterFailures) {
        own.untilUs = now + lastsMs * 1_000;
        own.failedUs = [];
      }
      return next(failure, call);
    }),
  );
}
