import { z } from "zod";
import { ConfigError, type ConfigProblem } from "../core/index.ts";
import { parseJson } from "../dialects/index.ts";
import { readText } from "../target/index.ts";
import type { TraceEntry } from "./schedule.ts";

const lineSchema = z.strictObject({
  offsetMs: z.number().nonnegative(),
  dialect: z.enum(["chat", "messages"]).default("chat"),
  stream: z.boolean().default(false),
  promptTokens: z.int().positive().default(20),
  maxTokens: z.int().positive().default(64),
});

/** Problems that are listed; a wrong file has one a line. */
const MOST_PROBLEMS = 10;

/**
 * Reads a trace: one JSON object a line with `offsetMs`, and optionally `dialect`, `stream`, `promptTokens`, `maxTokens`.
 *
 * @returns entries in order of time, whatever their order in the file.
 * @throws ConfigError with file and line of each problem.
 */
export function readTrace(path: string): TraceEntry[] {
  const problems: ConfigProblem[] = [];
  const entries = readText(path)
    .split("\n")
    .flatMap((line, index): TraceEntry[] => {
      if (line.trim() === "") return [];
      const parsed = lineSchema.safeParse(parseJson(line));
      if (parsed.success) return [parsed.data];
      const [issue] = parsed.error.issues;
      problems.push({ file: path, line: index + 1, path: issue?.path.join(".") ?? "", message: `${issue?.message}.` });
      return [];
    });
  if (problems.length > 0) throw new ConfigError(problems.slice(0, MOST_PROBLEMS));
  if (entries.length === 0) throw new ConfigError([{ file: path, path: "", message: "holds no requests." }]);
  return entries.sort((a, b) => a.offsetMs - b.offsetMs);
}
