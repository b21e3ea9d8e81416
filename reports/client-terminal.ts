import type pc from "picocolors";
import type { RunRecord } from "../src/record/index.ts";
import { oneLine } from "./clean-text.ts";
import { SIGNS, TONES } from "./status-style.ts";

type Colors = ReturnType<typeof pc.createColors>;

/** What a client did in each scenario, one line each. */
export function renderClientRun(record: RunRecord, colors: Colors): string {
  const width = Math.max(0, ...record.checks.map(({ id }) => nameOf(id).length));
  const lines = record.checks.map(({ id, status, message }) => {
    const tone = TONES[status];
    const paint =
      tone === "good" ? colors.green : tone === "bad" ? colors.red : tone === "quiet" ? colors.dim : colors.yellow;
    return `${paint(`${SIGNS[status]} ${nameOf(id).padEnd(width)}`)}  ${oneLine(message, 200)}\n`;
  });
  return lines.join("");
}

const nameOf = (id: string) => oneLine(id.slice(id.indexOf(".") + 1), 60);
