import type { Response } from "../checks/index.ts";
import { member } from "../core/index.ts";

/** Characters of a message that are repeated: a sentence or two, and no page. */
const LONGEST = 240;
/** Characters of a body without a message in it that are looked at. */
const LOOKED_AT = 1_000;

/**
 * What a gateway said of an error, in its own words: one line without control or direction characters, cut to a length that
 * fits a terminal. Keys are masked already, where the exchange was recorded.
 *
 * @returns `undefined` when the request was served, or when nothing was said that a person would read.
 */
function ownWords(response: Response): string | undefined {
  if (response.admitted) return undefined;
  const said = [response.error.message, member(response.json, "detail"), plainText(response)].find(
    (text) => typeof text === "string" && text.trim() !== "",
  );
  if (typeof said !== "string") return undefined;
  // Replaced by a space, not taken out: parts of a key that was cut up must not come together again.
  const line = said
    .slice(0, LOOKED_AT)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  const letters = [...line];
  return letters.length <= LONGEST ? line : `${letters.slice(0, LONGEST - 1).join("")}…`;
}

/** A body that is meant for people and is no page: some servers and proxies answer so. */
function plainText(response: Response): string | undefined {
  if (response.json !== undefined || /html/i.test(response.header("content-type") ?? "")) return undefined;
  const text = response.text.slice(0, LOOKED_AT);
  return text.trimStart().startsWith("<") ? undefined : text;
}

/** What happened in a few words, and what the gateway said of it: `400: "a model is required"`. */
export function toldBy(response: Response): string {
  const words = ownWords(response);
  return words === undefined ? response.summary : `${response.summary}: "${words}"`;
}

/** Sent by us, or a place for the key: in `extraHeaders` one key would go with every request, also where another is tried. */
const NOT_EXTRA = /^(authorization|(x-)?(goog-)?api-key|content-type|accept|user-agent|anthropic-version)$/i;
const MAX_NAMES = 3;

/**
 * What to do when a gateway asks for a header of its own, such as a tenant or a provider.
 *
 * @returns `undefined` when its words ask for none, or for one that is sent anyway.
 */
export function headerHint(response: Response): string | undefined {
  const words = ownWords(response);
  if (words === undefined || !/\bheaders?\b/i.test(words)) return undefined;
  const named = [...words.matchAll(/\bx-[a-z\d-]{1,60}|[a-z\d]+(?:-[a-z\d]+)+(?=["'`]? header)/gi)].map(
    ([name]) => name,
  );
  const [first, ...others] = [...new Set(named)].filter((name) => !NOT_EXTRA.test(name)).slice(0, MAX_NAMES);
  if (first === undefined) return undefined;
  const or = others.length === 0 ? "" : ` # or ${others.join(", ")}`;
  return `The gateway requires a header of its own. Add it under extraHeaders, which are sent with every request (docs/target-file.md, "Headers of your gateway"):\nextraHeaders: { all: { ${first}: … } }${or}`;
}
