import {
  FORMATS,
  type Format,
  jsonDocument,
  type Layout,
  type ReportSource,
  renderTerminal,
} from "../../reports/index.ts";
import { EXIT } from "../core/index.ts";
import { colorsFor } from "../cli/colors.ts";
import { openSource, writeReports } from "./write-reports.ts";

/** Formats for a stream rather than a file. */
export type Printed = Exclude<Format, "html"> | "terminal" | "json";

export interface ReportOptions {
  readonly dirs: readonly string[];
  /** Default: what every run leaves in its folder. */
  readonly format: readonly Format[];
  readonly layout: Layout;
  /** Print this to stdout instead of writing files. */
  readonly print?: Printed | undefined;
}

/** Renders the reports of stored runs again. Judges nothing and sends nothing. */
export function report({ dirs, format, layout, print }: ReportOptions): number {
  for (const dir of dirs) {
    const source = openSource(dir);
    if (!source.record.complete) {
      process.stderr.write(`gauntlet: ${dir} is of a run that did not come to its end: the report is partial\n`);
    }
    if (print === undefined) {
      const files = writeReports(dir, { ...(format.length === 0 ? {} : { formats: format }), layout }, source);
      for (const file of files) process.stdout.write(`${file}\n`);
    } else {
      process.stdout.write(printed(source, dir, print));
    }
  }
  return EXIT.pass;
}

function printed(source: ReportSource, folder: string, format: Printed): string {
  if (format === "json") return `${JSON.stringify(jsonDocument(source.record, folder))}\n`;
  if (format === "terminal") {
    return renderTerminal(source.record, { colors: colorsFor(process.stdout), exchange: source.evidence, folder });
  }
  return [...FORMATS[format](source, "single").values()].join("");
}
