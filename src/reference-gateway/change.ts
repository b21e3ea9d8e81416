import type { Behaviour } from "./pipeline/behaviour.ts";

/** A change of one gateway's behaviour. Its state lives in the closure of one `apply`. */
interface Change {
  readonly name: string;
  readonly area: string;
  /** What a user of the gateway would notice, in one sentence. */
  readonly summary: string;
  apply(behaviour: Behaviour): Behaviour;
}

/** A single defect of the kind that real gateways have. */
export interface Mutation extends Change {
  /** Ids of the violated requirements: of the interface, and of the standards and clients around it. */
  readonly requirements: readonly string[];
  /** True when only many requests, or many concurrent ones, reveal it. */
  readonly needsLoad?: true;
}

/** A gateway that is conformant but unusual. */
export interface Variant extends Change {
  /**
   * Requirements that may warn about it: client habits beyond the interface, and recommendations of the interface. No
   * requirement may fail.
   */
  readonly warns?: readonly string[];
  /** Checks that need a model capability that this variant lacks: they may be blocked. */
  readonly blocks?: readonly string[];
  /** What a target file has to declare about it, as its `contract`. */
  readonly contract?: VariantContract;
}

/** The part of a target file that says how a gateway expresses denials. */
export interface VariantContract {
  readonly actionHint?: boolean;
  readonly denials?: Readonly<
    Record<string, { readonly status?: number; readonly message?: string | { readonly pattern: string } }>
  >;
}

/** @param name area and name, separated by a dot. */
export function mutation(
  name: string,
  requirements: readonly string[],
  summary: string,
  apply: Mutation["apply"],
): Mutation {
  return { name, area: areaOf(name), requirements, summary, apply };
}

/** A defect that only many requests, or many concurrent ones, reveal. */
export function loadMutation(
  name: string,
  requirements: readonly string[],
  summary: string,
  apply: Mutation["apply"],
): Mutation {
  return { ...mutation(name, requirements, summary, apply), needsLoad: true };
}

/** @param warns requirements that may at most warn. */
export function variant(name: string, summary: string, apply: Variant["apply"], warns?: readonly string[]): Variant {
  return { name, area: areaOf(name), summary, apply, ...(warns === undefined ? {} : { warns }) };
}

function areaOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}
