import type { LedgerDescription } from "./ledger/description.ts";
import type { Behaviour } from "./pipeline/behaviour.ts";

/** A change of one gateway's behaviour. Its state lives in the closure of one `apply`. */
interface Change {
  readonly name: string;
  readonly area: string;
  /** What a user of the gateway would notice, in one sentence. */
  readonly summary: string;
  apply(behaviour: Behaviour): Behaviour;
}

/** A single defect of the kind that real gateways have, and everything that the verifications need to know about it. */
export interface Mutation extends Change {
  /** Ids of the violated requirements: of the interface, and of the standards and clients around it. */
  readonly breaks: readonly string[];
  /** True when only many requests, or many concurrent ones, reveal it. */
  readonly needsLoad?: true;
  /** Requirements that may break as well, beyond the general rules in `scripts/verify/judge/may-break.ts`. */
  readonly mayBreak?: readonly string[];
  /** Check instances that must detect it in `test/checks/kills.test.ts`, each with a requirement that it must report as broken. */
  readonly detectedBy?: Readonly<Record<string, string>>;
  /**
   * Probes (`test/reference-gateway/support/probes.ts`) that reveal it, if different from those of its area; `checks` if only a
   * whole scenario or a load run reveals it.
   */
  readonly shownBy?: readonly string[] | "checks";
  /** A shipped workload whose events reveal it, and the finding that does. Conformance checks need not detect it. */
  readonly shownByEvents?: { readonly workload: string; readonly finding: string };
}

type Declaration = Omit<Mutation, "name" | "area">;

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
  /** The same for its `ledger`. */
  readonly ledger?: Partial<LedgerDescription>;
}

/** The part of a target file that says how a gateway expresses denials. */
export interface VariantContract {
  readonly actionHint?: boolean;
  readonly denials?: Readonly<
    Record<string, { readonly status?: number; readonly message?: string | { readonly pattern: string } }>
  >;
}

/** @param name area and name, separated by a dot. */
export function mutation(name: string, declaration: Declaration): Mutation {
  return { name, area: areaOf(name), ...declaration };
}

/** A defect that only many requests, or many concurrent ones, reveal. */
export function loadMutation(name: string, declaration: Declaration): Mutation {
  return mutation(name, { ...declaration, needsLoad: true });
}

/** What a row of a grid has in place of `apply`; `breaks` only if it differs from the other rows. */
type Rows<W> = Readonly<
  Record<string, Omit<Declaration, "apply" | "breaks"> & { readonly with: W; readonly breaks?: readonly string[] }>
>;

/**
 * One kind of change in several places or forms.
 *
 * @param breaks what a row breaks unless it says otherwise.
 * @param apply builds the change from the `with` of a row: the requests that it applies to, or the edit.
 */
export function grid<W>(
  breaks: readonly string[],
  apply: (given: W) => Mutation["apply"],
  rows: Rows<NoInfer<W>>,
): readonly Mutation[] {
  return Object.entries(rows).map(([name, { with: given, ...row }]) =>
    mutation(name, { breaks, ...row, apply: apply(given) }),
  );
}

/** A grid of defects that only many requests, or many concurrent ones, reveal. */
export function loadGrid<W>(
  breaks: readonly string[],
  apply: (given: W) => Mutation["apply"],
  rows: Rows<NoInfer<W>>,
): readonly Mutation[] {
  return grid(breaks, apply, rows).map((row) => ({ ...row, needsLoad: true }));
}

/** @param warns requirements that may at most warn. */
export function variant(name: string, summary: string, apply: Variant["apply"], warns?: readonly string[]): Variant {
  return { name, area: areaOf(name), summary, apply, ...(warns === undefined ? {} : { warns }) };
}

function areaOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}
