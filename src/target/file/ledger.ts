import { dirname, resolve } from "node:path";
import * as z from "zod";
import { addressProblem } from "../../core/index.ts";
import type { Key } from "../key.ts";
import { keyReference, optional } from "./value-schemas.ts";

/** What can be read of a row. The first four are needed to judge anything. */
export const LEDGER_FIELDS = [
  "time",
  "input",
  "output",
  "cost",
  "requestId",
  "key",
  "model",
  "status",
  "requests",
  "cachedInput",
  "cacheWrite5m",
  "cacheWrite1h",
  "reasoning",
] as const;

export type LedgerField = (typeof LEDGER_FIELDS)[number];

/** Totals that the ledger states next to its rows. */
const TOTALS = ["requests", "input", "output", "cost"] as const;
export type LedgerTotal = (typeof TOTALS)[number];

const pointer = z
  .string()
  .regex(/^(\/.*)?$/, "must be a JSON pointer, such as /usage/input; an empty string is the whole document");
const place = z.union([pointer, z.array(pointer).min(1)]);

const FIELD_MEANINGS: Readonly<Record<LedgerField, string>> = {
  time: "Time of the request: ISO 8601 (UTC unless it says otherwise), or seconds or milliseconds since 1970.",
  input: "Input tokens.",
  output: "Output tokens.",
  cost: "Cost, a number or a decimal string, in `costUnit`.",
  requestId: "Id of the request, which the caller sees in `responseId`.",
  key: "Key that was charged: its SHA-256, or `keyId`. Unset: every returned row is assumed to belong to the key.",
  model: "Model.",
  status: "How the request ended.",
  requests: "Requests in the row, if the ledger merges several into one. Unset: one.",
  cachedInput: "Input tokens that were read from a provider's cache.",
  cacheWrite5m: "Input tokens written to a provider's cache for five minutes.",
  cacheWrite1h: "Input tokens written to a provider's cache for an hour.",
  reasoning: "Reasoning tokens.",
};

const fields = z.strictObject(
  Object.fromEntries(LEDGER_FIELDS.map((name) => [name, optional(place, FIELD_MEANINGS[name])])) as Record<
    LedgerField,
    z.ZodOptional<typeof place>
  >,
);

const perMTok = z.number().nonnegative();
const price = z.strictObject({
  inputPerMTok: perMTok.meta({ description: "Price of a million input tokens, USD." }),
  outputPerMTok: perMTok.meta({ description: "Price of a million output tokens, USD." }),
  cachedInputPerMTok: optional(perMTok, "Of those read from a provider's cache; default inputPerMTok."),
  cacheWrite5mPerMTok: optional(perMTok, "Of those written to it for five minutes; default inputPerMTok."),
  cacheWrite1hPerMTok: optional(perMTok, "Of those written to it for an hour; default inputPerMTok."),
  perRequest: optional(perMTok, "Price of each request, USD; default 0."),
});

/** Value of one cost unit, micro-dollars. */
const COST_UNITS = { usd: 1_000_000, cent: 10_000, microUsd: 1, nanoUsd: 0.001 } as const;

/** How times are written in the address. */
const TIME_FORMATS = ["iso", "sql", "unix-s", "unix-ms"] as const;

type WrittenFields = { readonly [name in LedgerField]?: string | readonly string[] | undefined };

interface LedgerPreset {
  /** After the address in the file. */
  readonly path: string;
  readonly rows: string;
  readonly times: (typeof TIME_FORMATS)[number];
  readonly costUnit: keyof typeof COST_UNITS;
  readonly responseId: readonly string[];
  readonly fields: WrittenFields;
}

const CACHE_DETAILS = "/metadata/usage_object/prompt_tokens_details";

/** Descriptions of known gateways; what the file says replaces them. */
const PRESETS: Readonly<Record<"litellm" | "inferrail", LedgerPreset>> = {
  // LiteLLM 1.106: rows of the table LiteLLM_SpendLogs.
  litellm: {
    path: "/spend/logs/v2?api_key={key}&start_date={from}&end_date={to}&page={page}&page_size=500&sort_order=asc",
    rows: "/data",
    times: "sql",
    costUnit: "usd",
    responseId: ["header:x-litellm-call-id"],
    fields: {
      time: "/startTime",
      input: "/prompt_tokens",
      output: "/completion_tokens",
      cost: "/spend",
      requestId: "/litellm_call_id",
      key: "/api_key",
      model: ["/model_group", "/model"],
      status: "/status",
      cachedInput: [`${CACHE_DETAILS}/cached_tokens`, "/metadata/usage_object/cache_read_input_tokens"],
      cacheWrite5m: [`${CACHE_DETAILS}/cache_creation_token_details/ephemeral_5m_input_tokens`],
      cacheWrite1h: [`${CACHE_DETAILS}/cache_creation_token_details/ephemeral_1h_input_tokens`],
      reasoning: "/metadata/usage_object/completion_tokens_details/reasoning_tokens",
    },
  },
  // inferrail 0.4: receipts of `inferrail serve --app-mode`, which know no keys.
  inferrail: {
    path: "/v1/local/receipts?limit=500&offset={offset}",
    rows: "/receipts",
    times: "iso",
    costUnit: "usd",
    responseId: ["/id", "/message/id"],
    fields: {
      time: "/timestamp",
      input: "/prompt_tokens",
      output: "/completion_tokens",
      cost: "/estimated_cost_usd",
      requestId: "/request_id",
      model: "/model",
      status: "/status",
      cachedInput: "/cache_read_input_tokens",
      cacheWrite5m: "/cache_creation_5m_input_tokens",
      cacheWrite1h: "/cache_creation_1h_input_tokens",
    },
  },
};

/** Parts of an address that are filled in. */
const PLACEHOLDERS = ["key", "from", "to", "page", "offset", "next"] as const;
export type LedgerPlaceholder = (typeof PLACEHOLDERS)[number];

function urlProblem(url: string): string | undefined {
  const unknown = [...url.matchAll(/\{([^}]*)\}/g)].find(
    ([, name]) => !PLACEHOLDERS.includes(name as LedgerPlaceholder),
  );
  if (unknown !== undefined) return `has ${unknown[0]}; expected ${PLACEHOLDERS.map((name) => `{${name}}`).join(", ")}`;
  return addressProblem(url.replace(/\?.*$/, "").replaceAll(/[{}]/g, ""));
}

/** What the gateway records of requests and their cost, and how it is read. */
export const ledgerSchema = z
  .strictObject({
    kind: optional(
      z.enum(Object.keys(PRESETS) as [keyof typeof PRESETS, ...(keyof typeof PRESETS)[]]),
      "A ready-made description: litellm (spend logs; url is the address of the proxy) or inferrail (receipts; url is the address of the gateway).",
    ),
    url: optional(
      z.string().superRefine((url, context) => {
        const problem = urlProblem(url);
        if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
      }),
      "Address that returns the rows of a key as JSON. {key} stands for the key's SHA-256 or keyId, {from} and {to} for the times. For paging, use {page} (from 1), {offset} (rows read so far) or {next}.",
    ),
    command: optional(
      z.string().min(1),
      "Command line, run by the shell in the folder of the target file. Gets {key, from, to} as JSON on its input, and prints the rows as JSON.",
    ),
    token: optional(keyReference, "Bearer token for the address, as a reference."),
    key: optional(
      keyReference,
      "Reference to a key that is used for nothing else; default: keys.valid; rows that match no request of the run are then not judged.",
    ),
    keyId: optional(z.string().min(1), "How the ledger names that key; default: its SHA-256, hexadecimal."),
    rows: optional(pointer, "Location of the list of rows in the response; default: the response itself."),
    next: optional(pointer, "Location of the value for {next}; null or absent on the last page."),
    times: optional(z.enum(TIME_FORMATS), "How {from} and {to} are written; sql is YYYY-MM-DD HH:MM:SS. Default iso."),
    fields: optional(
      fields,
      "Location of each value in a row, as a JSON pointer, or a list of pointers; the first that exists and is not null is used.",
    ),
    responseId: optional(
      z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
      "Where a response shows the id of its row: header:NAME, or a JSON pointer into the body or an event of a stream.",
    ),
    costUnit: optional(
      z.enum(Object.keys(COST_UNITS) as [keyof typeof COST_UNITS, ...(keyof typeof COST_UNITS)[]]),
      "Unit of costs; default usd.",
    ),
    inputExcludesCache: optional(z.boolean(), "true: input tokens do not include those of the cache fields."),
    outputExcludesReasoning: optional(z.boolean(), "true: output tokens do not include reasoning."),
    totals: optional(
      z.strictObject(
        Object.fromEntries(TOTALS.map((name) => [name, pointer.optional()])) as Record<
          LedgerTotal,
          z.ZodOptional<typeof pointer>
        >,
      ),
      "Locations of totals in the (first) response, as on an account page.",
    ),
    prices: optional(
      z.record(z.string().min(1), price),
      "Prices by the model that callers name. Unset: costs are not compared with prices.",
    ),
  })
  .superRefine((ledger, context) => {
    for (const [path, message] of ledgerProblems(ledger)) context.addIssue({ code: "custom", path, message });
  });

export type WrittenLedger = z.infer<typeof ledgerSchema>;

function ledgerProblems(written: Pick<WrittenLedger, "kind" | "url" | "command" | "token" | "fields" | "next">) {
  const { kind, url, command, token, fields: given = {}, next } = written;
  const problems: [PropertyKey[], string][] = [];
  if (command === undefined && url === undefined) problems.push([[], "must have a url or a command"]);
  if (command !== undefined && url !== undefined) problems.push([["command"], "cannot be combined with url"]);
  if (command !== undefined && token !== undefined) problems.push([["token"], "is sent only to a url"]);
  if (command !== undefined && kind !== undefined) problems.push([["kind"], "needs a url"]);
  const own: WrittenFields = { ...(kind && PRESETS[kind].fields), ...given };
  const missing = (["time", "input", "output", "cost"] as const).filter((name) => own[name] === undefined);
  if (missing.length > 0) problems.push([["fields"], `must have ${missing.join(", ")}`]);
  if (url?.includes("{next}") === true && next === undefined)
    problems.push([["next"], "missing; the URL contains {next}, and this field says where to read its value"]);
  return problems;
}

/** Prices of a model, micro-dollars. */
export type LedgerPrice = {
  readonly perRequestMicroUsd: number;
  /** Micro-dollars per token are dollars per million. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
};

/** A ledger with its defaults filled in. */
export interface LedgerTarget {
  readonly from:
    | { readonly kind: "http"; readonly url: string; readonly token: Key | undefined }
    | { readonly kind: "command"; readonly command: string; readonly folder: string };
  /** A key used for nothing else; `undefined`: there is none. */
  readonly key: Key | undefined;
  readonly keyId: string | undefined;
  readonly rows: string;
  readonly next: string | undefined;
  readonly times: (typeof TIME_FORMATS)[number];
  readonly fields: Readonly<Partial<Record<LedgerField, readonly string[]>>>;
  readonly responseId: readonly string[];
  readonly costUnitMicroUsd: number;
  readonly inputExcludesCache: boolean;
  readonly outputExcludesReasoning: boolean;
  readonly totals: Readonly<Partial<Record<LedgerTotal, string>>>;
  readonly prices: Readonly<Record<string, LedgerPrice>>;
}

/** @param source file that it is written in. @param keys the resolved references. */
export function ledgerOf(
  written: WrittenLedger,
  source: string,
  keys: { readonly token: Key | undefined; readonly key: Key | undefined },
): LedgerTarget {
  const preset = written.kind && PRESETS[written.kind];
  const url = `${preset === undefined ? written.url : (written.url ?? "").replace(/\/+$/, "")}${preset?.path ?? ""}`;
  const own: WrittenFields = { ...preset?.fields, ...definedIn(written.fields ?? {}) };
  const responseId = written.responseId ?? preset?.responseId ?? [];
  return {
    from:
      written.command === undefined
        ? { kind: "http", url, token: keys.token }
        : { kind: "command", command: written.command, folder: dirname(resolve(source)) },
    key: keys.key,
    keyId: written.keyId,
    rows: written.rows ?? preset?.rows ?? "",
    next: written.next,
    times: written.times ?? preset?.times ?? "iso",
    fields: Object.fromEntries(Object.entries(own).map(([name, places]) => [name, [places].flat()])),
    responseId: typeof responseId === "string" ? [responseId] : responseId,
    costUnitMicroUsd: COST_UNITS[written.costUnit ?? preset?.costUnit ?? "usd"],
    inputExcludesCache: written.inputExcludesCache ?? false,
    outputExcludesReasoning: written.outputExcludesReasoning ?? false,
    totals: definedIn(written.totals ?? {}),
    prices: Object.fromEntries(Object.entries(written.prices ?? {}).map(([model, own]) => [model, priceOf(own)])),
  };
}

function priceOf(written: z.infer<typeof price>): LedgerPrice {
  const { inputPerMTok: input, outputPerMTok: output, perRequest = 0 } = written;
  return {
    perRequestMicroUsd: perRequest * COST_UNITS.usd,
    input,
    cachedInput: written.cachedInputPerMTok ?? input,
    cacheWrite5m: written.cacheWrite5mPerMTok ?? input,
    cacheWrite1h: written.cacheWrite1hPerMTok ?? input,
    output,
  };
}

function definedIn<K extends string, V>(given: { readonly [name in K]?: V | undefined }): { [name in K]?: V } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { [name in K]?: V };
}
