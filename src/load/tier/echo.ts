import { gunzipSync, inflateSync } from "node:zlib";
import { noncesIn } from "../../core/index.ts";
import { header, parseJson, readReply, readStream } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";

const FILLER = "one two three four five six seven eight nine ten";

/** A prompt whose echo can be recognised, so that a lost word or leaked end is detected. */
export function echoPrompt(nonce: string): string {
  return `Please repeat: ${nonce} ${FILLER} ${nonce}`;
}

/**
 * Checks the text of an echoing model's reply. `crossed`: it contains the unique text of another request. `incomplete`: it lacks
 * the text that was sent. `undefined`: it is correct, or cannot be read.
 */
export function echoFlaw(exchange: LoadExchange, isEcho: boolean): "crossed" | "incomplete" | undefined {
  const { prepared } = exchange;
  if (prepared.nonce === undefined || exchange.ending !== "complete" || exchange.status !== 200) return undefined;
  const text = textOf(exchange);
  if (text === undefined) return undefined;
  const foreign = noncesIn(text).some((found) => found !== prepared.nonce);
  if (foreign) return "crossed";
  return isEcho && !text.includes(`${prepared.nonce} ${FILLER} ${prepared.nonce}`) ? "incomplete" : undefined;
}

function textOf(exchange: LoadExchange): string | undefined {
  const { prepared, head, pieces } = exchange;
  const received = Buffer.concat(pieces.map(({ bytes }) => bytes));
  const coding = header(
    head
      .split("\r\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const),
    "content-encoding",
  );
  const body = decode(received, coding);
  if (body === undefined) return undefined;
  if (prepared.stream) return readStream(body).text;
  return readReply(prepared.dialect, parseJson(body.toString("utf8"))).text ?? undefined;
}

function decode(bytes: Buffer, coding: string | undefined): Buffer | undefined {
  try {
    if (coding === undefined || coding === "identity") return bytes;
    if (coding === "gzip" || coding === "x-gzip") return gunzipSync(bytes);
    return coding === "deflate" ? inflateSync(bytes) : undefined;
  } catch {
    // The judges of samples report a coding that cannot be undone; here, the text is just unknown.
    return undefined;
  }
}
