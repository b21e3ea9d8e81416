import { formatCount } from "../../core/index.ts";
import { readLedger, type Target } from "../../target/index.ts";
import type { Symptom } from "./symptom.ts";

const HOUR_MS = 3_600_000;

/** Whether the ledger of the target can be read; nothing if it has none. */
export async function ledgerSymptom({ ledger, keys }: Target, signal: AbortSignal): Promise<Symptom | undefined> {
  if (ledger === undefined) return undefined;
  const toMs = Date.now();
  const key = ledger.key ?? keys.valid;
  const { problem, rows, pages } = await readLedger(ledger, { key, fromMs: toMs - HOUR_MS, toMs, signal });
  const about = "ledger";
  if (problem !== null)
    return { about, level: "bad", text: problem, next: "Fix ledger in the target file; see docs/target-file.md." };
  const found = `${formatCount(rows.length, "row")} of the last hour, ${formatCount(pages, "page")}`;
  if (rows.length === 0)
    return {
      about,
      level: "note",
      text: `read, but ${found}`,
      next: `Send a request with ${key.name} and try again; if its row is missing, check keyId, from and to.`,
    };
  if (ledger.key === undefined)
    return {
      about,
      level: "note",
      text: found,
      next: "Set ledger.key to a key that nothing else uses, so that charges without a request can be detected.",
    };
  return { about, level: "good", text: found };
}
