import type { Ending } from "./exchange.ts";

/** Why we left; becomes the ending. */
export class OwnAbort extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.kind);
    this.ending = ending;
  }
}

/** Whether the parser complains of bytes. */
export function isParserError(error: Error): boolean {
  return error.name === "HTTPParserError" || error.message === "bad response";
}

/** The end of the connection inside a message reaches the parser as an error of its own, not always with its code. */
export function isCut(error: Error): boolean {
  return codeOf(error) === "HPE_INVALID_EOF_STATE" || error.message.includes("Invalid EOF state");
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/**
 * What an error says about the end of an exchange.
 *
 * @param sent whether the request was on its way.
 */
export function endingOf(error: Error, sent: boolean): Ending {
  if (error instanceof OwnAbort) return error.ending;
  const code = codeOf(error);
  const detail = code === "" || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
  if (code.startsWith("HPE_") || error.name === "HTTPParserError" || code === "UND_ERR_HEADERS_OVERFLOW") {
    return { kind: isCut(error) ? "reset" : "protocol-error", detail };
  }
  if (!sent) return { kind: "unreachable", detail: causeOf(error) ?? detail };
  return { kind: "reset", detail };
}

/** Node reports a refused connection to several addresses as an AggregateError without a message. */
function causeOf(error: Error): string | undefined {
  if (!(error instanceof AggregateError)) return undefined;
  const [first] = error.errors;
  return first instanceof Error ? first.message : undefined;
}
