import type { Mutation } from "../change.ts";
import * as FILES from "./files.ts";

/** Every mutation. */
export const MUTATIONS: readonly Mutation[] = Object.values(FILES).flat();
