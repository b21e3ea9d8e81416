import { nearestOf, UsageError } from "../core/index.ts";
import type { VariantContract } from "./change.ts";
import type { LedgerDescription } from "./ledger/description.ts";
import { MUTATIONS } from "./mutations/mutation-table.ts";
import type { Behaviour } from "./pipeline/behaviour.ts";
import { DEFAULT_BEHAVIOUR } from "./pipeline/default-behaviour.ts";
import { VARIANTS } from "./variants/variant-table.ts";

/** The currently enabled mutations and variants of a gateway. Requests in flight keep the behaviour they began with. */
export class BehaviourSwitch {
  #mutations: readonly string[] = [];
  #variants: readonly string[] = [];
  #current: Behaviour = DEFAULT_BEHAVIOUR;
  readonly #onTop: (behaviour: Behaviour) => Behaviour;

  /**
   * @param onTop applied after all mutations and variants, whichever are enabled.
   * @throws UsageError for an unknown name.
   */
  constructor(
    mutations: readonly string[],
    variants: readonly string[],
    onTop: (behaviour: Behaviour) => Behaviour = (behaviour) => behaviour,
  ) {
    this.#onTop = onTop;
    this.set({ mutations, variants });
  }

  get current(): Behaviour {
    return this.#current;
  }

  get mutations(): readonly string[] {
    return this.#mutations;
  }

  get variants(): readonly string[] {
    return this.#variants;
  }

  /** What a target file has to declare about the variants. */
  get contract(): VariantContract | undefined {
    return pick("variant", VARIANTS, this.#variants).find(({ contract }) => contract !== undefined)?.contract;
  }

  /** The same for the ledger. */
  get ledger(): Partial<LedgerDescription> {
    return Object.assign({}, ...pick("variant", VARIANTS, this.#variants).map(({ ledger }) => ledger));
  }

  /**
   * Rebuilds the behaviour, with variants below and mutations on top; counters of mutations restart.
   *
   * @throws UsageError for an unknown name; nothing is changed then.
   */
  set({
    mutations = this.#mutations,
    variants = this.#variants,
  }: {
    mutations?: readonly string[];
    variants?: readonly string[];
  }): void {
    const changes = [...pick("variant", VARIANTS, variants), ...pick("mutation", MUTATIONS, mutations)];
    this.#current = this.#onTop(changes.reduce((behaviour, change) => change.apply(behaviour), DEFAULT_BEHAVIOUR));
    this.#mutations = mutations;
    this.#variants = variants;
  }
}

function pick<T extends { readonly name: string }>(what: string, table: readonly T[], names: readonly string[]): T[] {
  return names.map((name) => {
    const found = table.find((entry) => entry.name === name);
    if (found !== undefined) return found;
    const known = table.map((entry) => entry.name);
    const nearest = [nearestOf(name, known)].filter((one) => one !== undefined);
    const near = new Set([
      ...known.filter((one) => one.startsWith(name)),
      ...nearest,
      ...known.filter((one) => sharesAWord(one, name)),
    ]);
    const hint = near.size === 0 ? "" : ` Similar: ${[...near].slice(0, 5).join(", ")}.`;
    throw new UsageError(`there is no ${what} "${name}".${hint}`, {
      hint: `\`gauntlet gateway --list-${what}s\` lists all.`,
    });
  });
}

function sharesAWord(one: string, other: string): boolean {
  const words = new Set(one.split(/[.-]/));
  return other.split(/[.-]/).some((word) => word.length > 3 && words.has(word));
}
