import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Judgement, readJudgements } from "./judgement.ts";

export interface WorkersOptions {
  readonly workers: number;
  /** Further options of `judge-many.ts`. */
  readonly options?: readonly string[];
  /** Where the judgements are stored; default: a temporary folder. */
  readonly folder?: string;
  /** Distinguishes several calls in one folder. */
  readonly label?: string;
}

const MANY = join(import.meta.dirname, "judge-many.ts");

/** Judges mutations or variants in separate processes, which are idle most of the time. */
export async function judgeInWorkers(
  kind: Judgement["kind"],
  names: readonly string[],
  { workers, options = [], folder = mkdtempSync(join(tmpdir(), "gauntlet-verify-")), label = kind }: WorkersOptions,
): Promise<Judgement[]> {
  mkdirSync(folder, { recursive: true });
  const files = await Promise.all(
    Array.from({ length: workers }, async (_, index) => {
      const [out, list] = [join(folder, `${label}-${index}.jsonl`), join(folder, `${label}-${index}.txt`)];
      writeFileSync(list, names.filter((_name, at) => at % workers === index).join("\n"));
      const command = ["--import", "tsx", MANY, kind, out, "--names", list, ...options];
      const worker = spawn(process.execPath, command, { stdio: ["ignore", "inherit", "inherit"] });
      await once(worker, "exit");
      return out;
    }),
  );
  return files.flatMap(readJudgements);
}
