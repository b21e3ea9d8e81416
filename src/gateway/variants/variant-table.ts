import type { Variant } from "../faults/fault.ts";
import { ACCESS_VARIANTS } from "./access-variants.ts";
import { DIALECT_VARIANTS } from "./dialect-variants.ts";
import { ERROR_VARIANTS } from "./error-variants.ts";
import { HTTP_VARIANTS } from "./http-variants.ts";
import { JSON_VARIANTS } from "./json-variants.ts";
import { LIMIT_VARIANTS } from "./limit-variants.ts";
import { STREAM_VARIANTS } from "./stream-variants.ts";

/** Every legal variant that can be switched on. */
export const VARIANTS: readonly Variant[] = [
  ...HTTP_VARIANTS,
  ...JSON_VARIANTS,
  ...STREAM_VARIANTS,
  ...DIALECT_VARIANTS,
  ...ERROR_VARIANTS,
  ...ACCESS_VARIANTS,
  ...LIMIT_VARIANTS,
];
