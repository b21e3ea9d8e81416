import type { RunRecord } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { SIGNS } from "../status-style.ts";
import { type Colors, painter } from "./options.ts";

/** What a client did in each scenario, one line each. */
export function renderClientRun(record: RunRecord, colors: Colors): string {
  const width = Math.max(0, ...record.checks.map(({ id }) => nameOf(id).length));
  const paint = painter(colors);
  const lines = record.checks.map(
    ({ id, status, message }) =>
      `${paint(status, `${SIGNS[status]} ${nameOf(id).padEnd(width)}`)}  ${oneLine(message, 200)}\n`,
  );
  return lines.join("");
}

const nameOf = (id: string) => oneLine(id.slice(id.indexOf(".") + 1), 60);
