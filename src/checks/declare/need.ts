import { EXIT, GauntletError } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { STATES } from "../../target/index.ts";

/** Preconditions without which a check cannot say anything true. */
export const NEEDS = [
  ...STATES,
  // A plain model: named by the target file, or found in the list at the start.
  "model.plain",
  // Present in every target: an invented id if the file names none.
  "model.unknown",
  // The target declares that real clients of the dialect must be able to use it (`compat`).
  "compat.chat",
  "compat.messages",
  // The gateway serves the dialect (`dialects`).
  "dialect.chat",
  "dialect.messages",
  // The target has an account of a standard tier.
  "tiers",
  // The target declares a limit on tokens per minute.
  "tokenLimits",
  // The target names a ledger of requests and their cost.
  "ledger",
  // The target has several addresses.
  "addresses",
  // A gateway on which the harness can create accounts and keys and change them; only the embedded one.
  "manage",
  // A gateway whose clock the harness can shift; only the embedded one.
  "clock",
  // An account whose limits the harness can raise; only on the embedded gateway.
  "upgrade",
] as const;

export type Need = (typeof NEEDS)[number];

/** Models whose provider fails on purpose. */
export const FAILING_MODELS = ["upstreamError", "upstreamTimeout", "cutStream"] as const;

/** A precondition turned out to be missing during a check: it blocks the check as if it had been declared. */
export class MissingFixture extends GauntletError {
  readonly code = "MISSING_FIXTURE";
  readonly exit = EXIT.inconclusive;
  readonly need: Need;
  /** For a model: the dialect that lacks it. */
  readonly dialect: Dialect;

  constructor(need: Need, dialect: Dialect) {
    super(`missing: ${need}`);
    this.need = need;
    this.dialect = dialect;
  }
}

/** A check tried to use a dialect that the target does not serve: the check does not apply, as if it had declared the dialect. */
export class UndeclaredDialect extends GauntletError {
  readonly code = "UNDECLARED_DIALECT";
  readonly exit = EXIT.inconclusive;

  constructor(dialect: Dialect, served: readonly Dialect[]) {
    super(`dialect.${dialect}: ${notServed(served)}`);
  }
}

/** Why checks that need another dialect do not apply. */
export function notServed(served: readonly Dialect[]): string {
  return `the target declares dialects: [${served.join(", ")}]`;
}
