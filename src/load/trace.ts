import { z } from "zod";
import { ConfigError, type ConfigProblem } from "../core/index.ts";
import { parseJson } from "../dialects/index.ts";
import { readText } from "../target/index.ts";
import { BLOCK_TOKENS } from "./prompt-text.ts";
import type { TraceEntry } from "./schedule.ts";

/** What a replay may name as its format; `auto` tells it by the first line. */
export const TRACE_FORMATS = ["auto", "gauntlet", "mooncake", "azure", "burstgpt"] as const;
type TraceFormat = (typeof TRACE_FORMATS)[number];

/** A line that was read, or what is wrong with it. */
type Read = TraceEntry | { readonly path: string; readonly message: string };
type ReadLine = (line: string) => Read;

/** Problems that are listed; a wrong file has one a line. */
const MOST_PROBLEMS = 10;

const tokens = z.int().positive();

const gauntletLine = z.strictObject({
  offsetMs: z.number().nonnegative(),
  dialect: z.enum(["chat", "messages"]).default("chat"),
  stream: z.boolean().default(false),
  promptTokens: tokens.default(20),
  maxTokens: tokens.default(64),
});

/** Lines of other tools have fields that we do not need. */
const mooncakeLine = z
  .looseObject({
    timestamp: z.number().nonnegative(),
    input_length: tokens,
    output_length: z.int().nonnegative(),
    hash_ids: z.array(z.int().nonnegative()).optional(),
  })
  .refine(({ input_length, hash_ids = [] }) => hash_ids.length <= Math.ceil(input_length / BLOCK_TOKENS), {
    message: `has more ids than input_length has blocks of ${BLOCK_TOKENS} tokens`,
    path: ["hash_ids"],
  });

/**
 * Reads a trace: one request a line, in the format of Gauntlet, of Mooncake (JSON), of the Azure LLM inference traces or of BurstGPT
 * (CSV).
 *
 * @returns entries in order of time, whatever their order in the file. Traces of others begin at their first request.
 * @throws ConfigError with file and line of each problem.
 */
export function readTrace(path: string, format: TraceFormat = "auto"): TraceEntry[] {
  const lines = readText(path)
    .replace(/^\uFEFF/, "")
    .split("\n");
  const first = lines.find((line) => line.trim() !== "") ?? "";
  const known = format === "auto" ? formatOf(first) : format;
  if (first === "" || known === undefined)
    throw new ConfigError([whole(path, first === "" ? "holds no requests." : UNKNOWN)]);
  const csv = known === "azure" || known === "burstgpt";
  const readLine = csv ? csvLine(path, known, first) : jsonLine(known);
  const problems: ConfigProblem[] = [];
  const entries = lines.flatMap((line, index): TraceEntry[] => {
    if (line.trim() === "" || (csv && line === first)) return [];
    const read = readLine(line);
    if ("offsetMs" in read) return [read];
    problems.push({ file: path, line: index + 1, path: read.path, message: `${read.message}.` });
    return [];
  });
  if (problems.length > 0) throw new ConfigError(problems.slice(0, MOST_PROBLEMS));
  if (entries.length === 0) throw new ConfigError([whole(path, "holds no requests.")]);
  entries.sort((a, b) => a.offsetMs - b.offsetMs);
  const beginMs = known === "gauntlet" ? 0 : (entries[0]?.offsetMs ?? 0);
  return beginMs === 0 ? entries : entries.map((entry) => ({ ...entry, offsetMs: entry.offsetMs - beginMs }));
}

const UNKNOWN =
  "is no trace that is known: expected JSON lines with offsetMs (gauntlet) or timestamp and input_length (mooncake), or CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens (azure) or Timestamp,Request tokens,Response tokens (burstgpt).";

const whole = (file: string, message: string): ConfigProblem => ({ file, path: "", message });

function formatOf(first: string): TraceFormat | undefined {
  if (first.trimStart().startsWith("{")) return /"offsetMs"\s*:/.test(first) ? "gauntlet" : "mooncake";
  const names = fieldsOf(first);
  return (["azure", "burstgpt"] as const).find((format) => COLUMNS[format].every((column) => names.includes(column)));
}

function jsonLine(format: TraceFormat): ReadLine {
  return (line) => {
    const json = parseJson(line);
    if (json === undefined) return { path: "", message: "is not JSON" };
    const parsed = (format === "gauntlet" ? gauntletLine : mooncakeLine.transform(entryOfMooncake)).safeParse(json);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    return { path: issue?.path.join(".") ?? "", message: issue?.message ?? "cannot be read" };
  };
}

function entryOfMooncake({
  timestamp,
  input_length,
  output_length,
  hash_ids,
}: z.infer<typeof mooncakeLine>): TraceEntry {
  const sizes = { promptTokens: input_length, maxTokens: Math.max(1, output_length) };
  return { offsetMs: timestamp, ...sizes, ...(hash_ids === undefined ? {} : { hashIds: hash_ids }) };
}

/** Columns by their names in the head: when, prompt, output. */
const COLUMNS = {
  azure: ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
  burstgpt: ["Timestamp", "Request tokens", "Response tokens"],
} as const;

const fieldsOf = (line: string) => line.split(",").map((field) => field.trim().replace(/^"(.*)"$/, "$1"));

/** @param head first line of the file, with the names of the columns. */
function csvLine(path: string, format: "azure" | "burstgpt", head: string): ReadLine {
  const names = fieldsOf(head);
  const columns = COLUMNS[format];
  const missing = columns.filter((column) => !names.includes(column));
  if (missing.length > 0) {
    const message = `the first line names no column ${missing.join(", ")}.`;
    throw new ConfigError([
      { file: path, line: 1, path: "", message, hint: `Columns of ${format}: ${columns.join(", ")}.` },
    ]);
  }
  const [when, prompt, output] = columns.map((column) => names.indexOf(column)) as [number, number, number];
  const readMs = format === "azure" ? momentMs : secondsMs;
  return (line) => {
    const fields = fieldsOf(line);
    const offsetMs = readMs(fields[when] ?? "");
    if (offsetMs === undefined)
      return { path: columns[0], message: format === "azure" ? "expected a date and time" : "expected seconds" };
    const lengths = [prompt, output].map((column) => Number(fields[column] || Number.NaN));
    const wrong = lengths.findIndex((length) => !Number.isInteger(length) || length < 0);
    if (wrong !== -1) return { path: columns[wrong + 1] ?? "", message: "expected a whole number" };
    // A request that failed when the trace was taken has no tokens; it arrived all the same.
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

/** How a trace is cut and made denser or thinner. */
export interface TraceScale {
  readonly requests?: number | undefined;
  /** Mean rate at `speed`. */
  readonly ratePerS?: number | undefined;
  readonly speed?: number | undefined;
}

/**
 * The beginning of a trace, with requests left out or repeated until its mean rate is the one wanted. A request that is repeated
 * comes again before the next one, evenly; the span of the trace stays.
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
