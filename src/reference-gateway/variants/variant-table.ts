import type { Variant } from "../change.ts";
import * as FILES from "./files.ts";

/** Every variant. */
export const VARIANTS: readonly Variant[] = Object.values(FILES).flat();
