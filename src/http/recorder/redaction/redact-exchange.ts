import type { HeaderList } from "../../../dialects/index.ts";
import type { DecodedBody } from "../decode-body.ts";
import type { Exchange, RecordedBody, RecordedResponse, Redaction } from "../exchange.ts";
import type { Redactor } from "./redact.ts";

/** Maximum number of redactions that an exchange lists; all places are masked. */
const MAX_REDACTIONS = 1_000;

/** An exchange before redaction: must not leave this module. */
export interface RawExchange extends Omit<Exchange, "response" | "redactions"> {
  readonly response: Omit<RecordedResponse, "body"> | undefined;
  readonly body: DecodedBody;
  /** Length of the whole body if the pieces are only its beginning. */
  readonly decodedBytes?: number | undefined;
  readonly receivedBytes: number;
  /** Network reads that delivered the body. */
  readonly reads: number;
}

/** Creates the recording that may be kept: all secrets are masked and listed. */
export function redactExchange(redactor: Redactor, raw: RawExchange): Exchange {
  const { response, body, decodedBytes, receivedBytes, reads, ...rest } = raw;
  const redactions: Redaction[] = [];
  const known = new Map<string, Redaction>();
  const clean = (text: string, place: Redaction["place"]): string => {
    const result = redactor.redact(text);
    for (const found of result.found.slice(0, MAX_REDACTIONS - redactions.length)) {
      // Equal redactions of an exchange share one object, because a run keeps them for every exchange.
      const key = `${found.secret}\n${found.whole}\n${found.form}\n${place}`;
      const redaction = known.get(key) ?? { ...found, place };
      known.set(key, redaction);
      redactions.push(redaction);
    }
    return result.text;
  };
  const cleanHeaders = (headers: HeaderList, place: Redaction["place"]): HeaderList => {
    // One search for all fields: a head may have fifteen thousand, and hardly any contains a secret.
    if (redactor.redact(headers.flat().join("\n")).found.length === 0) return headers;
    return headers.map(([name, value]) => [clean(name, place), clean(value, place)] as const);
  };
  const request = {
    ...raw.request,
    url: clean(raw.request.url, "request"),
    headers: cleanHeaders(raw.request.headers, "request"),
    body: raw.request.body === undefined ? undefined : clean(raw.request.body, "request"),
  };
  const recorded: RecordedResponse | undefined = response && {
    ...response,
    headers: cleanHeaders(response.headers, "response-headers"),
    trailers: cleanHeaders(response.trailers, "response-headers"),
    body: recordBody(body, { bytes: decodedBytes, receivedBytes, reads }, (text) => clean(text, "response-body")),
  };
  const ending =
    rest.ending.detail === undefined
      ? rest.ending
      : { ...rest.ending, detail: redactor.redact(rest.ending.detail).text };
  return { ...rest, ending, request, response: recorded, redactions };
}

function recordBody(
  body: DecodedBody,
  received: Pick<RecordedBody, "receivedBytes" | "reads"> & { readonly bytes: number | undefined },
  clean: (text: string) => string,
): RecordedBody {
  const bytes = Buffer.concat(body.pieces.map((piece) => piece.bytes));
  const text = strictUtf8(bytes, received.bytes !== undefined && received.bytes > bytes.length);
  const pieces = body.pieces.map(({ atUs, bytes: piece }) => [atUs, piece.length] as const);
  const common = { ...received, bytes: received.bytes ?? bytes.length, pieces, decodeError: body.error };
  if (text !== undefined) return { ...common, text: clean(text), base64: undefined };
  // latin1 maps each byte to one character, so a secret among invalid bytes is still found, and lengths are preserved.
  const masked = clean(bytes.toString("latin1"));
  return { ...common, text: undefined, base64: Buffer.from(masked, "latin1").toString("base64") };
}

/**
 * The text if the bytes are UTF-8, otherwise `undefined`; keeps a byte order mark.
 *
 * @param isCut the bytes are truncated and may end inside a character, which is then dropped.
 */
function strictUtf8(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    // Not UTF-8: a fact about the gateway, recorded by keeping the raw bytes.
    return undefined;
  }
}
