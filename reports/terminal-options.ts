import type pc from "picocolors";
import type { Status } from "../src/record/index.ts";
import type { ReportSource } from "./source.ts";

export interface TerminalOptions extends Pick<ReportSource, "evidence"> {
  readonly colors: ReturnType<typeof pc.createColors>;
  /** Where the run was written. */
  readonly folder: string;
}

/** Colours a text by a status. */
export type Paint = (status: Status, text: string) => string;

export function painter(colors: TerminalOptions["colors"]): Paint {
  return (status, text) => {
    if (status === "pass") return colors.green(text);
    if (status === "fail" || status === "harness-error" || status === "flaky") return colors.red(text);
    if (status === "observed" || status === "not-applicable") return colors.dim(text);
    return colors.yellow(text);
  };
}
