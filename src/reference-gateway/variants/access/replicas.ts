import { type Variant, variant } from "../../change.ts";
import { delays } from "../../edits/connection-edits.ts";
import { delayEvents, otherReplica } from "../../edits/replica-edits.ts";
import { always, inference, both as when } from "../../edits/when.ts";
import { onParcel, wrap } from "../../edits/wrap.ts";
import { withHeader } from "../../pipeline/response.ts";
import type { SharedEvent } from "../../shared/shared-event.ts";

/** A charge must not be known before its key. */
const OF_KEYS: readonly SharedEvent["kind"][] = ["key", "reserve", "budget", "cap"];

/** Replicas that differ, or that know of each other late, in ways that the interface allows. */
export const REPLICA_VARIANTS: readonly Variant[] = [
  variant(
    "replicas.keys-known-late",
    "Keys and what they spend are known to the other replicas after a second.",
    delayEvents(({ kind }) => OF_KEYS.includes(kind), 1_000),
  ),
  variant(
    "replicas.caps-known-late",
    "What one replica charges counts for daily caps at the others after three seconds.",
    delayEvents(({ kind }) => kind === "cap", 3_000),
  ),
  variant(
    "replicas.ends-known-late",
    "The end of a request is known to the other replicas after a second.",
    delayEvents(({ kind }) => kind === "release", 1_000),
  ),
  variant(
    "replicas.server-header",
    "Each replica sends a different Server header.",
    onParcel(always, (parcel, { services }) => ({
      ...parcel,
      headers: withHeader(parcel.headers, "Server", `replica-${services.shared?.replica ?? 1}`),
    })),
  ),
  variant(
    "replicas.models-in-any-order",
    "All replicas but the first list the models in the opposite order.",
    wrap("listModels", (next) => (call) => {
      const list = next(call) as { readonly data: readonly unknown[] };
      return otherReplica(call) ? { ...list, data: [...list.data].reverse() } : list;
    }),
  ),
  variant(
    "replicas.second-closes-connections",
    "All replicas but the first close the connection after each response.",
    onParcel(otherReplica, (parcel) => ({ ...parcel, headers: withHeader(parcel.headers, "Connection", "close") })),
  ),
  variant(
    "replicas.second-is-slower",
    "All replicas but the first take 150 ms longer.",
    delays(when(inference, otherReplica), () => 150),
  ),
];
