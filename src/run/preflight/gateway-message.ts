import type { Response } from "../../checks/index.ts";
import { member } from "../../core/index.ts";

/** Quoted characters of a message: a sentence or two, not a page. */
const MAX_LENGTH = 240;
/** Searched characters of a body that has no message. */
const LOOKED_AT = 1_000;

/**
 * The gateway's own error message: one line without control or direction characters, shortened to fit a terminal. Keys were
 * already masked when the exchange was recorded.
 *
 * @returns `undefined` when the request was served, or the response has no human-readable message.
 */
function gatewayMessage(response: Response): string | undefined {
  if (response.admitted) return undefined;
  const said = [response.error.message, member(response.json, "detail"), plainText(response)].find(
    (text) => typeof text === "string" && text.trim() !== "",
  );
  if (typeof said !== "string") return undefined;
  // Replaced by a space, not removed: the parts of a split key must not be joined again.
  const line = said
    .slice(0, LOOKED_AT)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  const letters = [...line];
  return letters.length <= MAX_LENGTH ? line : `${letters.slice(0, MAX_LENGTH - 1).join("")}…`;
}

/** A plain-text body that is not a page: some servers and proxies respond like this. */
function plainText(response: Response): string | undefined {
  if (response.json !== undefined || /html/i.test(response.header("content-type") ?? "")) return undefined;
  const text = response.text.slice(0, LOOKED_AT);
  return text.trimStart().startsWith("<") ? undefined : text;
}

/** The outcome in a few words, with the gateway's message: `400: "a model is required"`. */
export function describeResponse(response: Response): string {
  const words = gatewayMessage(response);
  return words === undefined ? response.summary : `${response.summary}: "${words}"`;
}

/**
 * Headers that we send ourselves, or that carry keys: in `extraHeaders` one key would be sent with every request, even when
 * another key is tested.
 */
const NOT_EXTRA = /^(authorization|(x-)?(goog-)?api-key|content-type|accept|user-agent|anthropic-version)$/i;
const MAX_NAMES = 3;

/**
 * What to do when a gateway requires an extra header, such as a tenant or a provider.
 *
 * @returns `undefined` when its message names none, or one that is sent anyway.
 */
export function headerHint(response: Response): string | undefined {
  const words = gatewayMessage(response);
  if (words === undefined || !/\bheaders?\b/i.test(words)) return undefined;
  const named = [...words.matchAll(/\bx-[a-z\d-]{1,60}|[a-z\d]+(?:-[a-z\d]+)+(?=["'`]? header)/gi)].map(
    ([name]) => name,
  );
  const [first, ...others] = [...new Set(named)].filter((name) => !NOT_EXTRA.test(name)).slice(0, MAX_NAMES);
  if (first === undefined) return undefined;
  const or = others.length === 0 ? "" : ` # or ${others.join(", ")}`;
  return `The gateway requires an additional header. Add it under extraHeaders.all, which applies to every request (docs/target-file.md, "Headers of your gateway"):\nextraHeaders: { all: { ${first}: … } }${or}`;
}
