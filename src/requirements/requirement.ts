/**
 * How strongly the specification states it, and so the severity of a miss: MUST fails, SHOULD warns, MAY is only sanity-checked
 * if present, OPEN ("not shown") is observed and can never count against anyone.
 */
export type Level = "MUST" | "SHOULD" | "MAY" | "OPEN";

export type Area =
  | "auth"
  | "chat"
  | "client"
  | "errors"
  | "limits"
  | "messages"
  | "models"
  | "retry"
  | "security"
  | "service"
  | "spending"
  | "streaming"
  | "versioning";

/** One testable sentence of the interface specification. */
export interface Requirement {
  readonly id: string;
  readonly level: Level;
  /** Who must meet it: the gateway under test, or any client of it and so the harness itself. */
  readonly binds: "gateway" | "client";
  readonly area: Area;
  /** Places in `docs/specification.md`: `7.T.key_revoked` is the row `key_revoked` of the table in section 7. */
  readonly source: string;
  readonly text: string;
}
