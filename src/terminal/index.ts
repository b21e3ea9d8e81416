export { colorsFor } from "./colors.ts";
export { defineCommand, type ExitCodeHolder, withControl } from "./define-command.ts";
export { internalError, wantsJson, writeError, writeErrorNow } from "./json-output.ts";
export {
  baseline,
  confirm,
  conformOptions,
  flag,
  json,
  k6,
  many,
  mutation,
  number,
  out,
  policy,
  replicas,
  seed,
  suite,
  target,
  text,
  variant,
} from "./options.ts";
export { wrap } from "./progress/fit.ts";
export { showProgress } from "./progress/progress.ts";
export { untilStopped } from "./until-stopped.ts";
export { fitted } from "./wrap-lines.ts";
