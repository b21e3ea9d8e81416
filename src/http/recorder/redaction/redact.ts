import type { Redaction } from "../exchange.ts";
import { StretchIndex } from "./stretch-index.ts";
import { type TextView, unescaped, viewOf } from "./unescaped-view.ts";

/** Maximum number of places listed per text; all are masked. A response of 8 MiB has room for a quarter of a million. */
const MAX_FOUND = 200;

/** A value that must not be shown, and the name that messages use for it. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

export type FoundSecret = Pick<Redaction, "secret" | "whole" | "form">;

interface SecretForm {
  readonly secret: string;
  readonly form: Redaction["form"];
  readonly text: string;
  /** Substrings chosen so that every long part contains one of them completely; a few searches then find all parts. */
  readonly cores: readonly { readonly text: string; readonly at: number }[];
  readonly longEnough: number;
  /** Whether the secret may also be an ordinary word. */
  readonly isWord: boolean;
}

/**
 * Minimum share of a key that a part must have to be masked; `sk-…abcd` stays readable. Not "all but one character": a key with
 * its middle character changed, as one check sends it, has two parts that are each just short of half.
 */
const LONG_PART = 1 / 2;
/** Parts of shorter keys are not masked: half of a six-letter key is three letters, which occur in ordinary words. */
const PARTS_FROM = 18;

/**
 * Keys shorter than this are often words, such as `test` or `EMPTY`. They are masked only where no letter or digit is next to
 * them, and never where a whole field name equals the key: it may be a field of the record.
 */
const MIN_DISTINCTIVE_LENGTH = 8;

/** Maximum number of escape layers that are undone. A JSON text in a JSON string in an HTML page has three. */
const MAX_LAYERS = 4;

/**
 * Masks secrets by value, anywhere and in every form in which they occur: unchanged, in other letter case, in hexadecimal, and in
 * base64 at any of its three alignments; each of them also with any characters escaped as in URLs, JSON and HTML. Long parts are
 * masked as well.
 *
 * A mask has the length of what it covers, so that lengths and offsets in the evidence stay correct.
 */
export class Redactor {
  readonly #forms: SecretForm[] = [];
  readonly #index = new StretchIndex<SecretForm>();
  /** The secrets that may be ordinary words, in all their forms. */
  readonly #words = new Set<string>();

  constructor(secrets: readonly Secret[]) {
    for (const secret of secrets) if (secret.value !== "") this.add(secret);
  }

  /** Masks another secret from now on, e.g. a key that was created during the run. */
  add(secret: Secret): void {
    for (const form of formsOf(secret)) {
      this.#forms.push(form);
      if (form.isWord) this.#words.add(form.text);
      for (const { text } of form.cores) this.#index.add(text, form);
    }
  }

  /** @returns the text with every secret masked, and what was found. */
  redact(text: string): { readonly text: string; readonly found: readonly FoundSecret[] } {
    const spans: FoundSpan[] = [];
    let view: TextView | undefined = viewOf(text);
    for (let layer = 0; layer <= MAX_LAYERS && view !== undefined; layer++) {
      this.#findIn(view, text, spans);
      view = unescaped(view);
    }
    if (spans.length === 0) return { text, found: [] };
    const apart = joinOverlapping(spans);
    const found = apart.slice(0, MAX_FOUND).map(({ secret, whole, form }) => ({ secret, whole, form }));
    return { text: cover(text, apart), found };
  }

  /** Finds secrets in a view of a text, and their positions in the original text. */
  #findIn(view: TextView, text: string, spans: FoundSpan[]): void {
    const present = this.#index.ownersIn(view.text);
    if (present.size === 0) return;
    for (const form of this.#forms.filter((one) => present.has(one))) {
      for (const shown of spansOf(view.text, form)) {
        const start = view.originalOf(shown.start);
        const end = view.originalOf(shown.end);
        const whole = shown.end - shown.start >= form.text.length;
        spans.push({ start, end, secret: form.secret, whole, form: formIn(text.slice(start, end), form) });
      }
    }
  }

  /** Redacts every string in a JSON-like value, including the keys of objects, because a hostile gateway can choose them. */
  redactValue<T>(value: T): T {
    if (typeof value === "string") return this.redact(value).text as T;
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item)) as T;
    if (typeof value !== "object" || value === null) return value;
    const clean = Object.entries(value).map(([name, inner]) => [this.#redactName(name), this.redactValue(inner)]);
    return Object.fromEntries(clean) as T;
  }

  #redactName(name: string): string {
    return this.#words.has(name) ? name : this.redact(name).text;
  }
}

function formsOf({ name, value }: Secret): SecretForm[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = new Map<string, Redaction["form"]>();
  forms.set(value, "plain");
  // A check for case-insensitive comparison sends the key in another letter case, which would reveal it.
  for (const text of [value.toLowerCase(), value.toUpperCase(), swapCase(value)]) forms.set(text, "plain");
  for (const [text, form] of [
    // UTF-8 bytes read as one character each, as in escapes.
    [bytes.toString("latin1"), "plain"],
    [bytes.toString("hex"), "hex"],
    [bytes.toString("hex").toUpperCase(), "hex"],
    ...[0, 1, 2].flatMap((shift) => base64Forms(bytes, shift)),
  ] as const) {
    if (text.length >= 4 && !forms.has(text)) forms.set(text, form);
  }
  const isWord = value.length < MIN_DISTINCTIVE_LENGTH;
  return [...forms].map(([text, form]) => ({ ...secretForm(name, text, form), isWord }));
}

/** The characters that a value contributes to a base64 text at this offset modulo three. */
function base64Forms(bytes: Buffer, shift: number): (readonly [string, "base64"])[] {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  // The first and last characters also contain bits of their neighbours.
  const from = shift === 0 ? 0 : shift + 1;
  const to = (shift + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1;
  const text = encoded.slice(from, to);
  return [[text, "base64"] as const, [text.replaceAll("+", "-").replaceAll("/", "_"), "base64"] as const];
}

function secretForm(secret: string, text: string, form: Redaction["form"]): Omit<SecretForm, "isWord"> {
  if (text.length < PARTS_FROM) return { secret, form, text, cores: [{ text, at: 0 }], longEnough: text.length };
  const longEnough = Math.floor((text.length - 1) * LONG_PART);
  // A part of the required length contains at least one whole block of half that length, wherever it starts.
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

/** Where long parts of a secret occur, in order and without overlap. */
function spansOf(text: string, form: SecretForm): Span[] {
  const hits: Span[] = [];
  for (const core of form.cores) {
    for (let at = text.indexOf(core.text); at !== -1; at = text.indexOf(core.text, at)) {
      const hit = extend(text, at, core, form.text);
      at = Math.max(hit.end, at + 1);
      if (hit.end - hit.start >= form.longEnough && !(form.isWord && isInWord(text, hit))) hits.push(hit);
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

/** Whether a letter or digit is next to it. */
function isInWord(text: string, { start, end }: Span): boolean {
  return /[\p{L}\p{N}]/u.test(`${text[start - 1] ?? ""}${text[end] ?? ""}`);
}

/** A secret that was found: in which form, and under how many layers of escapes. */
interface FoundSpan extends Span, FoundSecret {}

/** Sorts spans and merges those that overlap. A merged span has the name of the longest. */
function joinOverlapping(spans: readonly FoundSpan[]): FoundSpan[] {
  const apart: FoundSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
    else {
      const longer = span.end - span.start > last.end - last.start ? span : last;
      const whole = last.whole || span.whole;
      apart[apart.length - 1] = { ...longer, whole, start: last.start, end: Math.max(last.end, span.end) };
    }
  }
  return apart;
}

/** Masks spans in one pass: slicing the text again for each took minutes on a response that consisted of keys. */
function cover(text: string, spans: readonly FoundSpan[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, secret } of spans) {
    parts.push(text.slice(from, start), mask(secret, end - start));
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/** Extends a hit in both directions as far as it matches the secret. */
function extend(text: string, hit: number, core: { text: string; at: number }, secret: string) {
  let start = hit;
  for (let at = core.at - 1; at >= 0 && start > 0 && text[start - 1] === secret[at]; at--) start--;
  let end = hit + core.text.length;
  for (let at = core.at + core.text.length; at < secret.length && text[end] === secret[at]; at++) end++;
  return { start, end };
}

/** The form of a secret in a text: the form searched for, or an escaped one. */
function formIn(stood: string, { form, text }: SecretForm): Redaction["form"] {
  const sign = stood.length > text.length ? /[%\\&]/.exec(stood)?.[0] : undefined;
  return sign === "%" ? "url" : sign === "\\" ? "json" : sign === "&" ? "html" : form;
}

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
}

function mask(secret: string, length: number): string {
  const label = `[${secret}]`;
  return label.length <= length ? label.padEnd(length, "*") : "*".repeat(length);
}
