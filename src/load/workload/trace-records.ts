import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { ConfigError, fileProblem } from "../../core/index.ts";

/** Files are read in chunks of this size, because a trace may be larger than the longest string. */
const CHUNK_BYTES = 1 << 20;
/** Maximum length of a record, characters. Otherwise, an unclosed quotation mark would consume the whole file. */
const MAX_RECORD_CHARS = 16 << 20;

/** One record of a file, and the line on which it starts, from 1. */
export interface TraceRecord<T> {
  readonly line: number;
  readonly content: T;
}

/** The text of a file in pieces, without a byte order mark. @throws ConfigError if it cannot be read. */
export function* textOf(path: string, chunkBytes = CHUNK_BYTES): Generator<string> {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const buffer = Buffer.alloc(chunkBytes);
    const decoder = new StringDecoder("utf8");
    let isFirst = true;
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      const text = decoder.write(buffer.subarray(0, read));
      yield isFirst ? text.replace(/^\uFEFF/, "") : text;
      isFirst &&= text === "";
    }
    yield decoder.end();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([{ file: path, path: "", message: `cannot be read: ${fileProblem(error)}.` }], {
      cause: error,
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The lines of a text, except blank ones. */
export function* linesOf(text: Iterable<string>): Generator<TraceRecord<string>> {
  for (const record of allLinesOf(text)) if (record.content.trim() !== "") yield record;
}

function* allLinesOf(text: Iterable<string>): Generator<TraceRecord<string>> {
  let line = 1;
  let rest = "";
  for (const chunk of text) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const content of parts) yield { line: line++, content };
    if (rest.length > MAX_RECORD_CHARS) break;
  }
  yield { line, content: rest };
}

/**
 * The records of a CSV text (RFC 4180), without blank lines. A quoted field may contain commas, line breaks and doubled quotation
 * marks. Spaces around an unquoted field are not part of it.
 */
export function* csvRecordsOf(text: Iterable<string>): Generator<TraceRecord<readonly string[]>> {
  let open: { readonly line: number; content: string } | undefined;
  for (const { line, content } of allLinesOf(text)) {
    if (open !== undefined) open.content += `\n${content}`;
    else if (content.trim() === "") continue;
    const record: TraceRecord<string> = open ?? { line, content };
    // With an odd number of quotation marks a field is still open, and the line break is part of it.
    const isOpen = content.includes('"') && marksIn(record.content) % 2 === 1;
    if (isOpen && record.content.length <= MAX_RECORD_CHARS) open ??= { ...record };
    else if (open !== undefined && !content.includes('"') && record.content.length <= MAX_RECORD_CHARS) continue;
    else {
      yield { line: record.line, content: fieldsOf(record.content) };
      open = undefined;
    }
  }
  if (open !== undefined) yield { line: open.line, content: fieldsOf(open.content) };
}

function marksIn(text: string): number {
  return text.split('"').length - 1;
}

function fieldsOf(record: string): string[] {
  if (!record.includes('"')) return record.split(",").map((field) => field.trim());
  const fields: string[] = [];
  for (let at = 0; at <= record.length; ) {
    const quote = /^[ \t]*"/.exec(record.slice(at, at + 64))?.[0].length;
    const { text, end } = quote === undefined ? bareField(record, at) : quotedField(record, at + quote);
    fields.push(text);
    const comma = record.indexOf(",", end);
    at = comma === -1 ? record.length + 1 : comma + 1;
  }
  return fields;
}

function bareField(record: string, at: number): { text: string; end: number } {
  const comma = record.indexOf(",", at);
  const end = comma === -1 ? record.length : comma;
  return { text: record.slice(at, end).trim(), end };
}

/** @param at position after the opening quotation mark. */
function quotedField(record: string, at: number): { text: string; end: number } {
  let text = "";
  for (let from = at; ; ) {
    const mark = record.indexOf('"', from);
    if (mark === -1) return { text: text + record.slice(from), end: record.length };
    text += record.slice(from, mark);
    if (record[mark + 1] !== '"') return { text, end: mark + 1 };
    text += '"';
    from = mark + 2;
  }
}
