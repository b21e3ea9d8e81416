import * as z from "zod";
import { ConfigError, type ConfigProblem } from "../../core/index.ts";
import { parseJson } from "../../dialects/index.ts";
import type { TraceEntry } from "../schedule/schedule.ts";
import { BLOCK_TOKENS } from "./prompt-text.ts";
import { csvRecordsOf, linesOf, type TraceRecord, textOf } from "./trace-records.ts";

/** Valid formats for a replay; `auto` detects it from the first line. */
export const TRACE_FORMATS = ["auto", "gauntlet", "mooncake", "bailian", "azure", "burstgpt"] as const;
type TraceFormat = (typeof TRACE_FORMATS)[number];

/** A parsed line, or what is wrong with it. */
type Read = TraceEntry | { readonly path: string; readonly message: string };

/** Maximum number of problems listed; a file of the wrong kind has one per line. */
const MAX_PROBLEMS = 10;

const tokens = z.int().positive();

const gauntletLine = z.strictObject({
  offsetMs: z.number().nonnegative(),
  dialect: z.enum(["chat", "messages"]).default("chat"),
  stream: z.boolean().default(false),
  promptTokens: tokens.default(20),
  maxTokens: tokens.default(64),
});

/** Tokens per block of the Bailian traces, which otherwise have the fields of Mooncake; their times are in seconds. */
const BAILIAN_BLOCK_TOKENS = 16;

/** Lines from other tools have fields that we do not need. */
function blocksLine(blockTokens: number) {
  return z
    .looseObject({
      timestamp: z.number().nonnegative(),
      input_length: tokens,
      output_length: z.int().nonnegative(),
      hash_ids: z.array(z.int().nonnegative()).optional(),
    })
    .refine(({ input_length, hash_ids = [] }) => hash_ids.length <= Math.ceil(input_length / blockTokens), {
      message: `has more ids than input_length has blocks of ${blockTokens} tokens`,
      path: ["hash_ids"],
    });
}

type BlocksLine = z.infer<ReturnType<typeof blocksLine>>;

/**
 * Reads a trace with one request per record, in the format of Gauntlet, of Mooncake or of Bailian (JSON), of the Azure LLM
 * inference traces or of BurstGPT (CSV). The file is read in pieces, and may be larger than the longest string.
 *
 * @returns entries in chronological order, whatever their order in the file. Foreign traces start at their first request.
 * @throws ConfigError with file and line of each problem.
 */
export function readTrace(path: string, format: TraceFormat = "auto"): TraceEntry[] {
  const [first] = linesOf(textOf(path));
  const known = first === undefined || format !== "auto" ? format : formatOf(first.content);
  if (first === undefined || known === undefined || known === "auto")
    throw new ConfigError([whole(path, first === undefined ? "holds no requests." : UNKNOWN)]);
  const problems: ConfigProblem[] = [];
  const entries: TraceEntry[] = [];
  for (const { line, content } of known === "azure" || known === "burstgpt"
    ? csvEntries(path, known)
    : jsonEntries(path, known)) {
    if ("offsetMs" in content) entries.push(content);
    else problems.push({ file: path, line, path: content.path, message: `${content.message}.` });
    if (problems.length === MAX_PROBLEMS) break;
  }
  if (problems.length > 0) throw new ConfigError(problems);
  if (entries.length === 0) throw new ConfigError([whole(path, "holds no requests.")]);
  entries.sort((a, b) => a.offsetMs - b.offsetMs);
  const beginMs = known === "gauntlet" ? 0 : (entries[0]?.offsetMs ?? 0);
  return beginMs === 0 ? entries : entries.map((entry) => ({ ...entry, offsetMs: entry.offsetMs - beginMs }));
}

const UNKNOWN =
  "is not a known trace format: expected JSON lines with offsetMs (gauntlet), chat_id and timestamp (bailian) or timestamp and input_length (mooncake), or CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens (azure) or Timestamp,Request tokens,Response tokens (burstgpt).";

const whole = (file: string, message: string): ConfigProblem => ({ file, path: "", message });

function formatOf(first: string): TraceFormat | undefined {
  if (first.trimStart().startsWith("{")) {
    if (/"offsetMs"\s*:/.test(first)) return "gauntlet";
    return /"chat_id"\s*:/.test(first) ? "bailian" : "mooncake";
  }
  const [head] = csvRecordsOf([first]);
  return (["azure", "burstgpt"] as const).find((format) =>
    COLUMNS[format].every((column) => head?.content.includes(column)),
  );
}

const JSON_LINES = {
  gauntlet: gauntletLine,
  mooncake: blocksLine(BLOCK_TOKENS).transform((line) => entryOf(line, { msPerUnit: 1 })),
  bailian: blocksLine(BAILIAN_BLOCK_TOKENS).transform((line) =>
    entryOf(line, { msPerUnit: 1_000, blockTokens: BAILIAN_BLOCK_TOKENS }),
  ),
} as const;

function* jsonEntries(path: string, format: keyof typeof JSON_LINES): Generator<TraceRecord<Read>> {
  for (const { line, content } of linesOf(textOf(path))) yield { line, content: readJson(content, format) };
}

function readJson(line: string, format: keyof typeof JSON_LINES): Read {
  const json = parseJson(line);
  if (json === undefined) return { path: "", message: "is not JSON" };
  const parsed = JSON_LINES[format].safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return { path: issue?.path.join(".") ?? "", message: issue?.message ?? "cannot be read" };
}

/** Converts a line with block ids. @param blockTokens the block size, if it differs from that of Mooncake traces. */
function entryOf(
  { timestamp, input_length, output_length, hash_ids }: BlocksLine,
  { msPerUnit, blockTokens }: { readonly msPerUnit: number; readonly blockTokens?: number },
): TraceEntry {
  return {
    offsetMs: timestamp * msPerUnit,
    promptTokens: input_length,
    maxTokens: Math.max(1, output_length),
    ...(hash_ids !== undefined && { hashIds: hash_ids }),
    ...(hash_ids !== undefined && blockTokens !== undefined && { blockTokens }),
  };
}

/** Names of the columns in the header row: time, prompt, output. */
const COLUMNS = {
  azure: ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
  burstgpt: ["Timestamp", "Request tokens", "Response tokens"],
} as const;

/** The records of a CSV trace. @throws ConfigError if its header row lacks a column. */
function* csvEntries(path: string, format: keyof typeof COLUMNS): Generator<TraceRecord<Read>> {
  const records = csvRecordsOf(textOf(path));
  const head = records.next();
  if (head.done === true) return;
  const readFields = csvReader(path, format, head.value.content);
  for (const { line, content } of records) yield { line, content: readFields(content) };
}

/** @param names of the columns. */
function csvReader(
  path: string,
  format: keyof typeof COLUMNS,
  names: readonly string[],
): (fields: readonly string[]) => Read {
  const columns = COLUMNS[format];
  const missing = columns.filter((column) => !names.includes(column));
  if (missing.length > 0) {
    const message = `the header row has no column ${missing.join(", ")}.`;
    throw new ConfigError([
      { file: path, line: 1, path: "", message, hint: `Columns of ${format}: ${columns.join(", ")}.` },
    ]);
  }
  const [when, prompt, output] = columns.map((column) => names.indexOf(column)) as [number, number, number];
  const readMs = format === "azure" ? momentMs : secondsMs;
  return (fields) => {
    const offsetMs = readMs(fields[when] ?? "");
    if (offsetMs === undefined)
      return { path: columns[0], message: format === "azure" ? "expected a date and time" : "expected seconds" };
    const lengths = [prompt, output].map((column) => Number(fields[column] || Number.NaN));
    const wrong = lengths.findIndex((length) => !Number.isInteger(length) || length < 0);
    if (wrong !== -1) return { path: columns[wrong + 1] ?? "", message: "expected a whole number" };
    // A request that failed when the trace was recorded has no tokens, but it did arrive.
    const [promptTokens = 1, maxTokens = 1] = lengths.map((length) => Math.max(1, length));
    return { offsetMs, promptTokens, maxTokens };
  };
}

function secondsMs(text: string): number | undefined {
  const seconds = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

const MOMENT = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

/** `2023-11-16 18:17:03.9799600`; fractions of a millisecond are kept. */
function momentMs(text: string): number | undefined {
  const [whole, day, time, fraction = "0", zone = "Z"] = MOMENT.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const ms = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms + Number(fraction) * 1_000;
}

/** How a trace is truncated, and made denser or sparser. */
export interface TraceScale {
  readonly requests?: number | undefined;
  /** Mean rate at `speed`. */
  readonly ratePerS?: number | undefined;
  readonly speed?: number | undefined;
}

/**
 * The beginning of a trace, with requests dropped or repeated to reach the requested mean rate. Repetitions are spread evenly
 * before the next request; the duration of the trace stays the same.
 */
export function scaleTrace(all: readonly TraceEntry[], { requests, ratePerS, speed = 1 }: TraceScale): TraceEntry[] {
  const entries = all.slice(0, requests);
  const lastMs = entries.at(-1)?.offsetMs ?? 0;
  const meanGapMs = lastMs / Math.max(1, entries.length - 1);
  if (ratePerS === undefined || lastMs === 0) return entries;
  const factor = (ratePerS * meanGapMs) / speed / 1_000;
  return entries.flatMap((entry, index) => {
    const copies = Math.floor((index + 1) * factor + 1e-9) - Math.floor(index * factor + 1e-9);
    const gapMs = (entries[index + 1]?.offsetMs ?? entry.offsetMs + meanGapMs) - entry.offsetMs;
    return Array.from({ length: copies }, (_, copy) => ({
      ...entry,
      offsetMs: entry.offsetMs + (copy * gapMs) / copies,
    }));
  });
}
