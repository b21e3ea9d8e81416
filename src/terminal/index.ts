export { colorsFor } from "./colors.ts";
export { type Command, defineCommand, type ExitCodeHolder, withControl } from "./define-command.ts";
export { defineGroup } from "./define-group.ts";
export { internalError, wantsJson, writeError, writeErrorNow } from "./json-output.ts";
export {
  baseline,
  confirm,
  conformOptions,
  flag,
  grouped,
  json,
  k6,
  LENGTHS_S,
  many,
  mutation,
  number,
  optionalArray,
  out,
  PORTS,
  policy,
  REPLICAS,
  replicas,
  requiredArray,
  SEEDS,
  seed,
  suite,
  target,
  text,
  variant,
} from "./options.ts";
export { wrap } from "./progress/fit.ts";
export { showProgress } from "./progress/progress.ts";
export { OutOfRange, within } from "./range.ts";
export { untilStopped } from "./until-stopped.ts";
export { fitted } from "./wrap-lines.ts";
