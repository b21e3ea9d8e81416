import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { MAIN, temporaryFolder } from "./gauntlet.ts";

export interface RunnableBlock {
  readonly exit: number;
  readonly script: string;
}

/** The blocks of a page that are marked with `<!-- run -->` or `<!-- run: exit 1 -->`. */
export function runnableBlocks(page: string): RunnableBlock[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/<!-- run(?:: exit (\d+))? -->\n\n```sh\n([\s\S]*?)```/g)].map(
    ([, exit = "0", script = ""]) => ({ exit: Number(exit), script }),
  );
}

export interface DocsShell extends Disposable {
  readonly folder: string;
  /** Runs a block to its end, in the same folder and with the variables of the blocks before. */
  run(script: string): { readonly code: number | null; readonly output: string };
}

/** A shell in an empty folder, in which `gauntlet` is the built program. */
export function startDocsShell(): DocsShell {
  const folder = temporaryFolder();
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  const gauntlet = join(bin, "gauntlet");
  writeFileSync(gauntlet, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(gauntlet, 0o755);
  return {
    folder: folder.path,
    run(script) {
      // What a first attempt of this test may have left.
      for (const [, out = ""] of script.matchAll(/--out (\S+)/g))
        rmSync(join(folder.path, out), { recursive: true, force: true });
      // Into a file: a gateway that a block leaves running would keep a pipe open.
      const output = join(folder.path, "output.txt");
      const file = openSync(output, "w");
      // Variables that a block sets are available in the next one, as in a reader's shell.
      const kept = "trap 'export -p > variables.sh' EXIT\n[ ! -e variables.sh ] || . ./variables.sh\n";
      const done = spawnSync("bash", ["-euc", `${kept}${script}`], {
        cwd: folder.path,
        env: { ...process.env, NO_COLOR: "1", PATH: `${bin}:${process.env["PATH"]}` },
        stdio: ["ignore", file, file],
      });
      closeSync(file);
      return { code: done.status, output: readFileSync(output, "utf8") };
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
