import type { Check } from "../../src/checks/index.ts";
import { DENIAL_CHECKS } from "./denials.ts";
import { DENIED_IN_EVERY_FORM } from "./denied-in-every-form.ts";
import { DERIVED_MODELS } from "./derived-models.ts";
import { NO_SUCH_MODEL } from "./no-such-model.ts";
import { ERRORS_OVER_THE_RUN } from "./over-the-run.ts";
import { UPSTREAM_FAILURES } from "./upstream-failures.ts";

/** Denials and failures: status, reason and body. */
export const ERRORS: readonly Check[] = [
  ...DENIAL_CHECKS,
  ...UPSTREAM_FAILURES,
  ...ERRORS_OVER_THE_RUN,
  ...DENIED_IN_EVERY_FORM,
  ...NO_SUCH_MODEL,
  ...DERIVED_MODELS,
];
