import type { Ending } from "./exchange.ts";
import { headDefect } from "./head-defect.ts";

/** Why we aborted; becomes the ending. */
export class OwnAbort extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.kind);
    this.ending = ending;
  }
}

/** Whether the error is the parser rejecting bytes. */
export function isParserError(error: Error): boolean {
  return error.name === "HTTPParserError" || error.message === "bad response";
}

/** If the connection ends inside a message, the parser reports its own error, not always with its code. */
export function isCut(error: Error): boolean {
  return codeOf(error) === "HPE_INVALID_EOF_STATE" || error.message.includes("Invalid EOF state");
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** undici's code for a head beyond the maximum size; the bound is ours. */
const TOO_LARGE_HEAD = "UND_ERR_HEADERS_OVERFLOW";
const TOO_LARGE_HEAD_DETAIL =
  "a head of more than 256 KiB; a client may refuse one, and most refuse more than 16 to 64 KiB (RFC 9110, 5.4)";

/** How far an exchange was when its connection failed. */
interface Progress {
  /** Whether the request was sent. */
  readonly sent: boolean;
  /** What was received instead of a valid head; `undefined` if the parser accepted one. */
  readonly unreadHead: string | undefined;
}

/** What an error says about how an exchange ended. */
export function endingOf(error: Error, { sent, unreadHead }: Progress): Ending {
  if (error instanceof OwnAbort) return error.ending;
  if (codeOf(error) === TOO_LARGE_HEAD) return { kind: "protocol-error", detail: TOO_LARGE_HEAD_DETAIL };
  // A malformed head takes precedence over how the parser or the connection reports it.
  const defect = unreadHead === undefined ? undefined : headDefect(unreadHead);
  if (defect !== undefined) return { kind: "protocol-error", detail: defect };
  const code = codeOf(error);
  const detail = code === "" || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
  if (code.startsWith("HPE_") || error.name === "HTTPParserError") {
    if (isCut(error)) return { kind: "reset", detail };
    return { kind: "protocol-error", detail: /chunk/i.test(detail) ? `${detail} (RFC 9112, 7.1)` : detail };
  }
  if (!sent) return { kind: "unreachable", detail: causeOf(error) ?? detail };
  return { kind: "reset", detail };
}

/** Node reports a connection refused by several addresses as an AggregateError without a message. */
function causeOf(error: Error): string | undefined {
  if (!(error instanceof AggregateError)) return undefined;
  const [first] = error.errors;
  return first instanceof Error ? first.message : undefined;
}
