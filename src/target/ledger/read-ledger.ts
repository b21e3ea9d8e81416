import { createHash } from "node:crypto";
import { atPointer, type JsonValue, messageOf } from "../../core/index.ts";
import type { LedgerPlaceholder, LedgerTarget } from "../file/ledger.ts";
import type { Key } from "../key.ts";
import { runCommand } from "../provision/run-command.ts";
import { LedgerProblem, type LedgerRow, type LedgerTotals, readRow, readTotals, rowsIn } from "./ledger-rows.ts";

/** What a ledger showed, or why it could not be read. */
export type LedgerReading = {
  /** The second half of a sentence that begins with "the ledger"; `null`: it was read. */
  readonly problem: string | null;
  readonly rows: readonly LedgerRow[];
  /** `null`: the target file declares no totals. */
  readonly totals: LedgerTotals | null;
  /** Sums of all listed rows, also of those of other times. */
  readonly listed: {
    readonly rows: number;
    readonly requests: number;
    readonly input: number;
    readonly output: number;
    readonly costMicroUsd: number;
  };
  readonly pages: number;
};

export interface LedgerQuery {
  readonly key: Key;
  /** Unix epoch, ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
}

const MAX_MS = 30_000;
const MAX_PAGES = 200;
/** Of one page. */
const MAX_BYTES = 32 * 1_024 * 1_024;

/** Reads the rows of a key and a time range. A ledger that cannot be read is a result, not an error. */
export async function readLedger(ledger: LedgerTarget, query: LedgerQuery): Promise<LedgerReading> {
  const keyId = ledger.keyId ?? createHash("sha256").update(query.key.reveal()).digest("hex");
  const rows: LedgerRow[] = [];
  let totals: LedgerTotals | null = null;
  let pages = 0;
  let next = "";
  try {
    for (;;) {
      if (pages >= MAX_PAGES) throw new LedgerProblem(`has more than ${MAX_PAGES} pages for this time`);
      const document = await request(ledger, { ...query, keyId, page: pages + 1, offset: rows.length, next });
      const list = rowsIn(document, ledger);
      if (pages++ === 0 && Object.keys(ledger.totals).length > 0) totals = readTotals(document, ledger);
      for (const row of list) rows.push(readRow(row, rows.length, ledger, keyId));
      const following = nextPage(ledger, document, list.length);
      if (following === undefined) break;
      if (following !== "" && following === next)
        throw new LedgerProblem(`names the same next page twice (${following.slice(0, 40)})`);
      next = following;
    }
    const isInTime = ({ timeMs }: LedgerRow) => timeMs >= query.fromMs && timeMs <= query.toMs;
    return { problem: null, rows: rows.filter(isInTime), totals, listed: sumsOf(rows), pages };
  } catch (error) {
    if (!(error instanceof LedgerProblem)) throw error;
    return { problem: error.message, rows: [], totals: null, listed: sumsOf([]), pages };
  }
}

function sumsOf(rows: readonly LedgerRow[]): LedgerReading["listed"] {
  const sum = (of: (row: LedgerRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    rows: rows.length,
    requests: sum(({ requests }) => requests),
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    costMicroUsd: sum(({ costMicroUsd }) => costMicroUsd ?? 0),
  };
}

/** Value of {next} for the next page, empty if the address needs none; `undefined`: this was the last one. */
function nextPage({ from, next }: LedgerTarget, document: JsonValue, count: number): string | undefined {
  if (from.kind === "command") return undefined;
  if (from.url.includes("{next}")) {
    const value = next === undefined ? undefined : atPointer(document, next);
    return typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined;
  }
  return count > 0 && /\{(?:page|offset)\}/.test(from.url) ? "" : undefined;
}

interface Page extends LedgerQuery {
  readonly keyId: string;
  readonly page: number;
  readonly offset: number;
  readonly next: string;
}

async function request(ledger: LedgerTarget, page: Page): Promise<JsonValue> {
  const { from } = ledger;
  const text = from.kind === "http" ? await httpText(from, ledger, page) : await commandText(from, page);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    const what =
      text.trim() === "" ? "is empty" : `is not JSON: it begins with ${JSON.stringify(text.trim().slice(0, 40))}`;
    throw new LedgerProblem(`sent a response that ${what}`);
  }
}

type From<Kind extends LedgerTarget["from"]["kind"]> = Extract<LedgerTarget["from"], { readonly kind: Kind }>;

async function httpText(from: From<"http">, ledger: LedgerTarget, page: Page): Promise<string> {
  // Loaded on first use: commands that read no ledger should not wait for it.
  const { request: send } = await import("undici");
  const signal = AbortSignal.any([page.signal, AbortSignal.timeout(MAX_MS)]);
  const address = filledIn(from.url, ledger, page);
  try {
    const { statusCode, body } = await send(address, {
      headers: {
        accept: "application/json",
        ...(from.token === undefined ? {} : { authorization: `Bearer ${from.token.reveal()}` }),
      },
      signal,
    });
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      text += decoder.decode(bytes as Buffer, { stream: true });
      if (text.length > MAX_BYTES)
        throw new LedgerProblem(`sent more than ${MAX_BYTES / 1_024 / 1_024} MB in one page`);
    }
    if (statusCode >= 300)
      throw new LedgerProblem(`responded with ${statusCode}: ${JSON.stringify(text.trim().slice(0, 80))}`);
    return text;
  } catch (error) {
    page.signal.throwIfAborted();
    if (error instanceof LedgerProblem) throw error;
    throw new LedgerProblem(`at ${new URL(address).origin} did not respond: ${messageOf(error)}`);
  }
}

async function commandText(from: From<"command">, page: Page): Promise<string> {
  const [start, end] = [page.fromMs, page.toMs].map((ms) => new Date(ms).toISOString());
  const { code, stdout, stderr, why } = await runCommand(from.command, {
    folder: from.folder,
    input: JSON.stringify({ key: page.keyId, from: start, to: end }),
    timeoutMs: MAX_MS,
    maxBytes: MAX_BYTES,
    signal: page.signal,
  });
  page.signal.throwIfAborted();
  if (code === 0) return stdout;
  throw new LedgerProblem(`command failed: ${why ?? `exit ${code}`} ${stderr.slice(-200)}`.trim());
}

function filledIn(url: string, ledger: LedgerTarget, page: Page): string {
  const values: Readonly<Record<LedgerPlaceholder, string>> = {
    key: page.keyId,
    from: timeText(Math.floor(page.fromMs / 1_000) * 1_000, ledger.times),
    to: timeText(Math.ceil(page.toMs / 1_000) * 1_000, ledger.times),
    page: String(page.page),
    offset: String(page.offset),
    next: page.next,
  };
  return url.replaceAll(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(values[name as LedgerPlaceholder] ?? ""));
}

function timeText(ms: number, format: LedgerTarget["times"]): string {
  const iso = new Date(ms).toISOString();
  if (format === "iso") return iso;
  if (format === "sql") return iso.slice(0, 19).replace("T", " ");
  return String(format === "unix-s" ? ms / 1_000 : ms);
}
