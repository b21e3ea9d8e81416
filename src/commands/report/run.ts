import { join } from "node:path";
import {
  FORMATS,
  type Format,
  jsonDocument,
  type Layout,
  type ReportSource,
  renderRun,
} from "../../../reports/index.ts";
import { EXIT, escapedJson, UsageError } from "../../core/index.ts";
import { writeAtomically } from "../../record/index.ts";
import type { Colors, OnProgress, Outcome } from "../../run/control/index.ts";
import { openSource, readOrRecover, writeReports } from "../../run/record/index.ts";

/** Formats for a stream rather than files. */
export type Printed = Exclude<Format, "html" | "llm-d"> | "terminal" | "json" | "claim";

export interface ReportOptions {
  readonly dirs: readonly string[];
  /** Default: what every run writes to its folder. */
  readonly format: readonly (Format | "claim")[];
  readonly layout: Layout;
  /** Folder of an earlier run that a comment compares with. */
  readonly base?: string | undefined;
  /** Address of the report, for the link of a comment. */
  readonly reportUrl?: string | undefined;
  /** Print this to stdout instead of writing files. */
  readonly print?: Printed | undefined;
}

/** Renders the reports of stored runs again. Sends nothing; only a claim judges the recording again. */
export async function report(
  { dirs, format, layout, print, base, reportUrl }: ReportOptions,
  onProgress: OnProgress,
): Promise<Outcome> {
  const written: string[] = [];
  const before = base === undefined ? undefined : readOrRecover(base);
  const reportOf = async (dir: string): Promise<Outcome["text"]> => {
    const source = { ...openSource(dir), base: before, reportUrl };
    if (!source.record.complete)
      onProgress({ kind: "notice", text: `${dir} belongs to a run that was cut off: the report is partial` });
    if (format.includes("llm-d") && (source.record.load?.runs ?? []).length === 0)
      throw new UsageError(`${dir} has no load results, and --format llm-d describes nothing else`, {
        hint: "Name the folder of a run of `gauntlet load`, or of `gauntlet run` on a target with limits.",
      });
    if (print === "claim") {
      const claim = await claimTextOf(dir);
      return () => claim;
    }
    if (print !== undefined) return (colors) => printed({ source, folder: dir, format: print, colors });
    const formats = format.filter((one) => one !== "claim");
    const files = writeReports(dir, { ...(format.length === 0 ? {} : { formats }), layout }, source);
    if (format.includes("claim")) {
      const path = join(dir, "claim.json");
      writeAtomically(path, await claimTextOf(dir));
      files.push(path);
    }
    written.push(...files);
    return () => files.map((file) => `${file}\n`).join("");
  };
  const texts: Outcome["text"][] = [];
  for (const dir of dirs) texts.push(await reportOf(dir));
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, written },
    text: (colors) => texts.map((text) => text(colors)).join(""),
  };
}

/** Judging a record again needs the checks, which no other report does. */
async function claimTextOf(dir: string): Promise<string> {
  const { composeClaimText } = await import("../../run/claims/index.ts");
  return composeClaimText(dir);
}

interface Printing {
  readonly source: ReportSource;
  readonly folder: string;
  readonly format: Exclude<Printed, "claim">;
  readonly colors: Colors;
}

function printed({ source, folder, format, colors }: Printing): string {
  if (format === "json") return `${escapedJson(jsonDocument(source.record, folder))}\n`;
  if (format === "terminal") return renderRun(source.record, { colors, evidence: source.evidence, folder });
  return [...FORMATS[format](source, "single").values()].join("");
}
