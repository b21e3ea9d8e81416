import type { RunRecord } from "../../src/record/index.ts";
import { renderClientRun } from "./client.ts";
import { renderComparison } from "./comparison.ts";
import { renderLoad, renderLoadRuns } from "./load.ts";
import type { TerminalOptions } from "./options.ts";
import { renderOverhead } from "./overhead.ts";
import { renderTerminal } from "./terminal.ts";
import { endLine } from "./verdict-lines.ts";

/** A run as its command prints it at the end, and `gauntlet report --print terminal` later. */
export function renderRun(record: RunRecord, options: TerminalOptions): string {
  const { colors } = options;
  switch (record.command) {
    case "load":
    case "merge":
      return renderLoad(record, options);
    case "compare":
      return `${renderComparison(record, colors)}${endLine(record.verdict, options)}\n`;
    case "overhead":
      return `${renderOverhead(record, colors)}${endLine(record.verdict, options)}\n`;
    case "client":
      // No curl lines: the scripted gateway no longer exists.
      return renderClientRun(record, colors) + renderTerminal(record, { ...options, evidence: () => undefined });
    default: {
      const runs = renderLoadRuns(record, colors);
      return (runs === "" ? "" : `${runs}\n`) + renderTerminal(record, options);
    }
  }
}
