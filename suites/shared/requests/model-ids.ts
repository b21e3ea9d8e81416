import type { BodyFact, Response } from "../../../src/checks/index.ts";
import { member } from "../../../src/core/index.ts";
import { listEntries } from "../../../src/dialects/index.ts";

interface ListedModels {
  /** Whether `data` is an array. */
  readonly isArray: boolean;
  readonly ids: readonly string[];
  /** Indexes of entries without an id. */
  readonly withoutId: readonly number[];
}

const modelsIn: BodyFact<ListedModels> = ({ json }) => {
  const ids: string[] = [];
  const withoutId: number[] = [];
  for (const [index, entry] of listEntries(json).entries()) {
    const id = member(entry, "id");
    if (typeof id === "string" && id !== "") ids.push(id);
    else withoutId.push(index);
  }
  return { isArray: Array.isArray(member(json, "data")), ids, withoutId };
};

/** The `data` of a list response. */
export const listedModels = (list: Response): ListedModels => list.fact(modelsIn);

/** The model ids of a list response. */
export const idsOf = (list: Response): readonly string[] => listedModels(list).ids;
