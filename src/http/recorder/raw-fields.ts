import { trim } from "../../core/index.ts";
import type { HeaderList } from "../../dialects/index.ts";

const BLANKS = " \t";

/** Header fields as the parser returns them: a flat list of names and values. Whitespace around a value is not part of it. */
export function pairs(raw: unknown): HeaderList {
  if (!Array.isArray(raw)) return [];
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    list.push([latin1(raw[at]), trim(latin1(raw[at + 1]), BLANKS, BLANKS)]);
  return list;
}

function latin1(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString("latin1") : String(value);
}
