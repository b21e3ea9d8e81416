import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { MAIN } from "./gauntlet.ts";

/** Whether this machine can give a program a terminal: `script` of util-linux. */
export const HAS_TERMINAL = spawnSync("script", ["--version"]).status === 0;

/** What the command line writes to stdout in a terminal of this width, line by line. */
export function linesInTerminal(
  args: readonly string[],
  { columns, cwd = tmpdir() }: { readonly columns: number; readonly cwd?: string },
): string[] {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const { stdout } = spawnSync("script", ["-qec", `stty cols ${columns}; ${command} 2>&-`, "/dev/null"], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", CI: "", SHELL: "/bin/sh" },
    input: "",
  });
  return stdout.replaceAll("\r", "").trimEnd().split("\n");
}
