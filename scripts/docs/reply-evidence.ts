import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Commands and engines that send load. */
export const COLUMNS = ["native", "k6", "autocannon", "tier", "capacity", "size", "overhead", "merge"] as const;
export type Column = (typeof COLUMNS)[number];

/** Kinds of 2xx replies that no client can use: `reply.KIND` is a mutation of the reference gateway. */
export const KINDS = [
  "html-page",
  "empty-body",
  "queued",
  "error-with-200",
  "empty-text",
  "no-choices",
  "stream-without-end",
  "stream-ignored",
  "stream-with-unnamed-error",
] as const;

/** Kinds that only streams have. */
export const STREAM_KINDS: readonly string[] = ["stream-without-end", "stream-ignored", "stream-with-unnamed-error"];

/** Suffix of the mutation for invalid replies to all requests, to one in five, and from the 101st on. */
export const WHEN = ["", "-in-five", "-later"] as const;

/** Results of `npm run verify replies -- --write`: exit codes by `COLUMN.KIND` and a suffix of `WHEN`. */
export interface ReplyEvidence {
  readonly cells: Readonly<Record<string, number>>;
}

export const REPLY_EVIDENCE_FILE = fileURLToPath(
  new URL("../../docs/internal/measured/unusable-replies.json", import.meta.url),
);

export function keptReplyEvidence(): ReplyEvidence {
  return JSON.parse(readFileSync(REPLY_EVIDENCE_FILE, "utf8"));
}

const TITLES: Readonly<Record<Column, string>> = {
  native: "`load FILE`",
  k6: "`load FILE`, k6",
  autocannon: "`load FILE`, autocannon",
  tier: "tier run",
  capacity: "`capacity`",
  size: "`size --verify`",
  overhead: "`overhead`",
  merge: "`merge`",
};

const DESCRIPTIONS: Readonly<Record<(typeof KINDS)[number], string>> = {
  "html-page": "an HTML page",
  "empty-body": "an empty body",
  queued: '202 `{"status":"queued"}`',
  "error-with-200": '200 `{"error":…}`',
  "empty-text": "an empty text",
  "no-choices": "`choices: []`",
  "stream-without-end": "a stream that ends after one token, without a final event",
  "stream-ignored": "one JSON document for `stream: true`",
  "stream-with-unnamed-error": '`{"detail":…}` in a stream that then ends normally',
};

/** The table in docs/evidence.md: exit codes for all replies, one in five, and from the 101st on. */
export function replyEvidence(): string {
  const { cells } = keptReplyEvidence();
  const cell = (column: Column, kind: string) => {
    const codes = (kind === "sound" ? [""] : WHEN).flatMap((when) => cells[`${column}.${kind}${when}`] ?? []);
    return codes.length === 0 ? "–" : codes.join(" / ");
  };
  const row = (title: string, kind: string) =>
    `| ${title} | ${COLUMNS.map((column) => cell(column, kind)).join(" | ")} |`;
  return [
    `| replies | ${COLUMNS.map((column) => TITLES[column]).join(" | ")} |`,
    `|---|${COLUMNS.map(() => "---|").join("")}`,
    row("the conformant gateway", "sound"),
    ...KINDS.map((kind) => row(DESCRIPTIONS[kind], kind)),
  ].join("\n");
}
