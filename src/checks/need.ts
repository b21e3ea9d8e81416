import { EXIT, GauntletError } from "../core/index.ts";
import type { Dialect } from "../dialects/index.ts";
import type { State } from "../target/index.ts";

/** Something that must exist before a check can say anything true. */
export type Need =
  | State
  /** A plain model: named by the target file, or found in the list at the start. */
  | "model.plain"
  /** Given in every target: an invented id where the file names none. */
  | "model.unknown"
  /** The target wants the dialect's real clients to be able to use it (`compat`). */
  | "compat.chat"
  | "compat.messages"
  /** The gateway serves the dialect (`dialects`). */
  | `dialect.${Dialect}`
  /** The target has an account of a standard tier. */
  | "tiers"
  /** The target declares a limit on tokens per minute. */
  | "tokenLimits"
  /** A gateway whose clock the harness may shift; only the embedded one. */
  | "clock"
  /** An account whose limits the harness may raise; only on the embedded gateway. */
  | "upgrade";

/** Models whose provider fails on purpose. */
export const FAILING_MODELS = ["upstreamError", "upstreamTimeout", "cutStream"] as const;

/** Something turned out to be missing while a check was under way: it blocks the check, as if it had been named before. */
export class MissingFixture extends GauntletError {
  readonly code = "MISSING_FIXTURE";
  readonly exit = EXIT.inconclusive;
  readonly need: Need;
  /** Of a model: the dialect that lacks it. */
  readonly dialect: Dialect;

  constructor(need: Need, dialect: Dialect) {
    super(`missing: ${need}`);
    this.need = need;
    this.dialect = dialect;
  }
}

/** A check turned out to send in a dialect that the target does not serve: it does not apply, as if it had declared it. */
export class UndeclaredDialect extends GauntletError {
  readonly code = "UNDECLARED_DIALECT";
  readonly exit = EXIT.inconclusive;

  constructor(dialect: Dialect, served: readonly Dialect[]) {
    super(`dialect.${dialect}: ${notServed(served)}`);
  }
}

/** Why what needs another dialect does not apply. */
export function notServed(served: readonly Dialect[]): string {
  return `the target declares dialects: [${served.join(", ")}]`;
}
