import type pc from "picocolors";
import type { Status } from "../../src/record/index.ts";
import type { ReportSource } from "../evidence/source.ts";

/** Colors of a terminal, or none. */
export type Colors = ReturnType<typeof pc.createColors>;

export interface TerminalOptions extends Pick<ReportSource, "evidence"> {
  readonly colors: Colors;
  /** The run folder. */
  readonly folder: string;
  /** Whether everything was written; default yes. */
  readonly isKept?: boolean;
}

/** Colours a text by status. */
export type Paint = (status: Status, text: string) => string;

export function painter(colors: Colors): Paint {
  return (status, text) => {
    if (status === "pass") return colors.green(text);
    if (status === "fail" || status === "harness-error" || status === "flaky") return colors.red(text);
    if (status === "observed" || status === "not-applicable") return colors.dim(text);
    return colors.yellow(text);
  };
}
