import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { AdminError } from "../admin/fields.ts";
import type { Activity } from "../history.ts";
import type { Behaviour } from "../pipeline/behaviour.ts";
import type { Services } from "../services.ts";

interface LedgerQuery {
  Querystring: { key?: string; from?: string; to?: string; after?: string };
}

/** What the requests with a key cost: `GET /ledger?key=<SHA-256 of its text>&from=<ISO 8601>&to=<ISO 8601>`, in pages. */
export function ledgerRoutes(app: FastifyInstance, services: Services, behaviour: () => Behaviour): void {
  const { accounts, history, clock } = services;
  app.get<LedgerQuery>("/ledger", ({ query }) => {
    const key = [...accounts.keys].find(({ secret }) => sha256(secret) === query.key);
    if (key === undefined) throw new AdminError(404, "key: the SHA-256 of a key's text is expected");
    const [fromMs, toMs] = [timeOf("from", query.from), timeOf("to", query.to)];
    // Empty for the first page.
    const after = query.after || "0";
    if (!/^\d{1,9}$/.test(after)) throw new AdminError(400, "after: the value of `next` is expected");
    const { ledgerRows, ledgerEntry, ledgerTotals, ledgerLagMs, ledgerPageRows } = behaviour();
    const isVisible = (row: Activity) => row.atMs + row.durationMs + ledgerLagMs(row) <= clock.nowMs();
    const all = history.rows().filter((row) => row.atMs >= fromMs && row.atMs <= toMs && isVisible(row));
    const rows = ledgerRows(
      all.filter(({ keyId }) => keyId === key.id),
      all,
    );
    const from = Number(after);
    const keyOf = ({ keyId = "" }: Activity) => sha256(accounts.key(keyId)?.secret ?? "");
    return {
      rows: rows.slice(from, from + ledgerPageRows).map((row) => ledgerEntry(row, keyOf(row))),
      next: from + ledgerPageRows < rows.length ? String(from + ledgerPageRows) : null,
      totals: ledgerTotals(rows),
    };
  });
}

/** @returns Unix epoch milliseconds. */
function timeOf(name: string, text: string | undefined): number {
  const ms = Date.parse(text ?? "");
  if (Number.isNaN(ms)) throw new AdminError(400, `${name}: a time is expected, like 2026-01-31T10:00:00Z`);
  return ms;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
