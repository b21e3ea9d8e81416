import type { Redaction } from "./exchange.ts";
import { StretchIndex } from "./stretch-index.ts";

/** Places that are listed of one text; all are masked. An answer of 8 MiB has room for a quarter of a million. */
const MOST_FOUND = 200;

/** A value that must not be shown, and the name under which it may be spoken of. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

export type FoundSecret = Pick<Redaction, "secret" | "whole" | "form">;

interface SecretForm {
  readonly secret: string;
  readonly form: Redaction["form"];
  readonly text: string;
  /** Stretches one of which every long part contains whole, so that a few searches find them all. */
  readonly cores: readonly { readonly text: string; readonly at: number }[];
  readonly longEnough: number;
}

/**
 * A part this long still gives a key away; masked forms such as `sk-…abcd` stay readable. Of all but one character: a key whose
 * middle one was changed, as a check sends it, has two parts that are each just short of a half.
 */
const LONG_PART = 1 / 2;
/** Shorter keys are hidden as a whole only: half of six letters is found in ordinary words. */
const PARTS_FROM = 18;

/**
 * Hides secrets by value, wherever they stand and in the forms in which they travel: as they are, in changed letter case,
 * URL-encoded, inside JSON strings, and in base64 at any of its three alignments. Long parts are hidden as well.
 *
 * A mask has the length of what it covers, so that lengths and offsets in the evidence stay true.
 */
export class Redactor {
  readonly #forms: SecretForm[] = [];
  readonly #index = new StretchIndex<SecretForm>();

  constructor(secrets: readonly Secret[]) {
    for (const secret of secrets) if (secret.value !== "") this.add(secret);
  }

  /** Hides another secret from now on, e.g. a key that was made during the run. */
  add(secret: Secret): void {
    for (const form of formsOf(secret)) {
      this.#forms.push(form);
      for (const { text } of form.cores) this.#index.add(text, form);
    }
  }

  /** @returns the text with every secret masked, and what was found. */
  redact(text: string): { readonly text: string; readonly found: readonly FoundSecret[] } {
    const found: FoundSecret[] = [];
    let clean = text;
    const present = this.#index.ownersIn(text);
    if (present.size === 0) return { text, found };
    for (const form of this.#forms.filter((one) => present.has(one))) {
      const spans = spansOf(clean, form);
      if (spans.length === 0) continue;
      clean = cover(clean, spans, form.secret);
      for (const { start, end } of spans.slice(0, MOST_FOUND - found.length))
        found.push({ secret: form.secret, whole: end - start >= form.text.length, form: form.form });
    }
    return { text: clean, found };
  }

  /** Redacts every string inside a JSON-like value; keys of objects too, since a hostile gateway can choose them. */
  redactValue<T>(value: T): T {
    if (typeof value === "string") return this.redact(value).text as T;
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item)) as T;
    if (typeof value !== "object" || value === null) return value;
    const clean = Object.entries(value).map(([name, inner]) => [this.redact(name).text, this.redactValue(inner)]);
    return Object.fromEntries(clean) as T;
  }
}

function formsOf({ name, value }: Secret): SecretForm[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = new Map<string, Redaction["form"]>();
  forms.set(value, "plain");
  // A probe for sloppy comparison sends the key in another letter case, from which it could be read.
  for (const text of [value.toLowerCase(), value.toUpperCase(), swapCase(value)]) forms.set(text, "plain");
  for (const [text, form] of [
    [encodeURIComponent(value), "url"],
    [JSON.stringify(value).slice(1, -1), "json"],
    ...[0, 1, 2].flatMap((shift) => base64Forms(bytes, shift)),
  ] as const) {
    if (text.length >= 4 && !forms.has(text)) forms.set(text, form);
  }
  return [...forms].map(([text, form]) => secretForm(name, text, form));
}

/** The characters that a value contributes to a base64 text when it stands at this offset modulo three. */
function base64Forms(bytes: Buffer, shift: number): (readonly [string, "base64"])[] {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  // The first and last characters also hold bits of the neighbours.
  const from = shift === 0 ? 0 : shift + 1;
  const to = (shift + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1;
  const text = encoded.slice(from, to);
  return [[text, "base64"] as const, [text.replaceAll("+", "-").replaceAll("/", "_"), "base64"] as const];
}

function secretForm(secret: string, text: string, form: Redaction["form"]): SecretForm {
  if (text.length < PARTS_FROM) return { secret, form, text, cores: [{ text, at: 0 }], longEnough: text.length };
  const longEnough = Math.floor((text.length - 1) * LONG_PART);
  // A stretch of this length holds one whole block of half of it, wherever it begins.
  const block = Math.floor((longEnough + 1) / 2);
  const count = Math.floor(text.length / block);
  const cores = Array.from({ length: count }, (_, index) => ({
    text: text.slice(index * block, (index + 1) * block),
    at: index * block,
  }));
  return { secret, form, text, cores, longEnough };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where long parts of a secret stand, in order and apart from each other. */
function spansOf(text: string, form: SecretForm): Span[] {
  const hits: Span[] = [];
  for (const core of form.cores) {
    for (let at = text.indexOf(core.text); at !== -1; at = text.indexOf(core.text, at)) {
      const hit = extend(text, at, core, form.text);
      at = Math.max(hit.end, at + 1);
      if (hit.end - hit.start >= form.longEnough) hits.push(hit);
    }
  }
  hits.sort((a, b) => a.start - b.start);
  const spans: Span[] = [];
  for (const hit of hits) {
    const last = spans.at(-1);
    if (last === undefined || hit.start >= last.end) spans.push(hit);
    else if (hit.end > last.end) spans[spans.length - 1] = { start: last.start, end: hit.end };
  }
  return spans;
}

/** Masks spans in one pass: cutting the text anew for each took minutes when an answer was nothing but keys. */
function cover(text: string, spans: readonly Span[], secret: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start), mask(secret, end - start));
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/** Widens a hit to both sides as far as it agrees with the secret. */
function extend(text: string, hit: number, core: { text: string; at: number }, secret: string) {
  let start = hit;
  for (let at = core.at - 1; at >= 0 && start > 0 && text[start - 1] === secret[at]; at--) start--;
  let end = hit + core.text.length;
  for (let at = core.at + core.text.length; at < secret.length && text[end] === secret[at]; at++) end++;
  return { start, end };
}

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
}

function mask(secret: string, length: number): string {
  const label = `[${secret}]`;
  return label.length <= length ? label.padEnd(length, "*") : "*".repeat(length);
}
