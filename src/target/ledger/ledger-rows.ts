import { atPointer, formatNumber, isObject, type JsonValue } from "../../core/index.ts";
import { parseJson } from "../../dialects/index.ts";
import type { LedgerField, LedgerTarget, LedgerTotal } from "../file/ledger.ts";

/** One row of a ledger. Tokens read from and written to a cache are part of the input, reasoning is part of the output. */
export type LedgerRow = {
  readonly requestId: string | null;
  /** Whether it names the requested key; `null` if the ledger names none. */
  readonly isOwnKey: boolean | null;
  /** Unix epoch, ms. */
  readonly timeMs: number;
  readonly model: string | null;
  readonly status: string | null;
  readonly requests: number;
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** `null`: the ledger states none. */
  readonly costMicroUsd: number | null;
};

/** Totals as the ledger states them; costs in micro-dollars. */
export type LedgerTotals = Readonly<Partial<Record<LedgerTotal, number>>>;

/** Why the rows of a ledger cannot be used, as the second half of a sentence. */
export class LedgerProblem extends Error {}

/** The list of rows in a response. @throws LedgerProblem if it is none. */
export function rowsIn(document: JsonValue, { rows }: Pick<LedgerTarget, "rows">): readonly JsonValue[] {
  const list = rows === "" ? document : (atPointer(document, rows) as JsonValue | undefined);
  if (Array.isArray(list)) return list;
  const where = rows === "" ? "its response" : `${rows} of its response`;
  throw new LedgerProblem(`${where} is ${kindOf(list)}; expected a list of rows`);
}

/** @param keyId how the ledger names the key. @throws LedgerProblem for a row without a time, tokens or a cost. */
export function readRow(row: JsonValue, index: number, ledger: LedgerTarget, keyId: string): LedgerRow {
  const at = `row ${formatNumber(index + 1)}`;
  if (!isObject(row)) throw new LedgerProblem(`${at} is ${kindOf(row)}; expected an object`);
  const found = (name: LedgerField) => valueIn(row, ledger.fields[name] ?? []);
  const placesOf = (name: LedgerField) => (ledger.fields[name] ?? []).join(" or ");
  const required = (name: LedgerField) => {
    const value = found(name);
    if (value === undefined) throw new LedgerProblem(`${at} has no ${name} (${placesOf(name)})`);
    return value;
  };
  const number = (name: LedgerField, value: unknown, absent = 0) => {
    const read = value === null || value === undefined ? absent : numberOf(value);
    if (read !== undefined) return read;
    throw new LedgerProblem(`${at} has ${shown(value)} as ${name} (${placesOf(name)}); expected a number`);
  };
  const tokens = (name: LedgerField) => number(name, found(name));
  const timeMs = timeOf(required("time"));
  if (timeMs === undefined)
    throw new LedgerProblem(`${at} has ${shown(found("time"))} as time (${placesOf("time")}); expected a time`);
  const cost = required("cost");
  const [cachedInput, cacheWrite5m, cacheWrite1h] = [
    tokens("cachedInput"),
    tokens("cacheWrite5m"),
    tokens("cacheWrite1h"),
  ];
  const reasoning = tokens("reasoning");
  const key = ledger.fields.key === undefined ? null : required("key");
  return {
    requestId: textOf(found("requestId")),
    isOwnKey: key === null ? null : key === keyId,
    timeMs,
    model: textOf(found("model")),
    status: textOf(found("status")),
    requests: number("requests", found("requests"), 1),
    input:
      number("input", required("input")) + (ledger.inputExcludesCache ? cachedInput + cacheWrite5m + cacheWrite1h : 0),
    cachedInput,
    cacheWrite5m,
    cacheWrite1h,
    output: number("output", required("output")) + (ledger.outputExcludesReasoning ? reasoning : 0),
    reasoning,
    costMicroUsd: cost === null ? null : number("cost", cost) * ledger.costUnitMicroUsd,
  };
}

/** @throws LedgerProblem for a total that is missing or is not a number. */
export function readTotals(document: JsonValue, { totals, costUnitMicroUsd }: LedgerTarget): LedgerTotals {
  return Object.fromEntries(
    Object.entries(totals).map(([name, place]) => {
      const value = numberOf(atPointer(document, place));
      if (value === undefined)
        throw new LedgerProblem(`${place} is ${kindOf(atPointer(document, place))}; expected the total of ${name}`);
      return [name, name === "cost" ? value * costUnitMicroUsd : value];
    }),
  );
}

/** The first value that exists and is not null, else null if one of them is; objects may be stored as JSON text. */
function valueIn(row: unknown, places: readonly string[]): unknown {
  const values = places.map((place) => valueThroughJsonText(row, place));
  return values.find((value) => value !== undefined && value !== null) ?? values.find((value) => value === null);
}

function valueThroughJsonText(json: unknown, pointer: string): unknown {
  const direct = atPointer(json, pointer);
  if (direct !== undefined) return direct;
  const [, name, rest] = /^\/([^/]*)(\/.*)$/.exec(pointer) ?? [];
  const text = name === undefined ? undefined : atPointer(json, `/${name}`);
  if (typeof text !== "string" || !text.startsWith("{")) return undefined;
  // A text that only looks like JSON has no members.
  return atPointer(parseJson(text), rest ?? "");
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === "string" && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value.trim())) return undefined;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

const textOf = (value: unknown): string | null =>
  typeof value === "string" || typeof value === "number" ? String(value).slice(0, 200) : null;

/** Larger values are milliseconds: as seconds, this is the year 5138. */
const MAX_SECONDS = 100_000_000_000;

/** Unix epoch, ms. A text without a zone is in UTC. */
function timeOf(value: unknown): number | undefined {
  const number = numberOf(value);
  if (number !== undefined) return number < 0 ? undefined : number < MAX_SECONDS ? number * 1_000 : number;
  if (typeof value !== "string") return undefined;
  const text = value.trim().replace(" ", "T");
  const ms = Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : shown(value);
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 60);
