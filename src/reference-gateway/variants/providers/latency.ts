import { type Variant, variant } from "../../change.ts";
import { wrap } from "../../edits/wrap.ts";

/** Between the pieces of a reply, ms: forty tokens per second. */
const PACE_MS = 25;
/** Longer replies, ms, have larger pieces. */
const MAX_REPLY_MS = 10_000;

/** Models with the latency of real ones. */
function firstByteAfter(name: string, inWords: string, firstMs: number): Variant {
  return variant(
    `latency.${name}`,
    `A model begins its reply after ${inWords} and sends 40 tokens per second, for at most ten seconds.`,
    wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      if (plan.kind !== "reply") return plan;
      const paceMs = Math.max(plan.paceMs, Math.min(PACE_MS, MAX_REPLY_MS / Math.max(1, plan.pieces.length)));
      return { ...plan, firstMs: plan.firstMs + firstMs, paceMs };
    }),
  );
}

/** Conformant gateways in front of models that are not instant. */
export const LATENCY_VARIANTS: readonly Variant[] = [
  firstByteAfter("half-a-second", "half a second", 500),
  firstByteAfter("two-seconds", "two seconds", 2_000),
  firstByteAfter("five-seconds", "five seconds", 5_000),
];
