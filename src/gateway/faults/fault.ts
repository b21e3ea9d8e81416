import type { Behaviour } from "../pipeline/behaviour.ts";

/** A change of one gateway's behaviour. State that it needs lives in the closure of one `apply`. */
interface Change {
  readonly name: string;
  readonly area: string;
  /** What a user of the gateway would notice, in one sentence. */
  readonly summary: string;
  apply(behaviour: Behaviour): Behaviour;
}

/** A single defect of the kind that real gateways have. */
export interface Fault extends Change {
  /** What it breaks: ids of requirements, or `protocol:…` and `compat:…` for what other standards and clients need. */
  readonly rows: readonly string[];
  /** True when only many requests, or many at a time, show it. */
  readonly needsLoad?: true;
}

/** A gateway that is sound but unusual. */
export type Variant = Change;
