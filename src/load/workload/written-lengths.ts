import * as z from "zod";
import { ConfigError, type ConfigProblem } from "../../core/index.ts";
import { readText } from "../../target/index.ts";
import type { Lengths } from "./lengths.ts";

const whole = z.int().positive();

/** Lengths in the format of workload files. */
export const lengthsSchema = z.union([
  whole,
  z.discriminatedUnion("kind", [
    z
      .strictObject({ kind: z.literal("uniform"), from: whole, to: whole })
      .refine(({ from, to }) => from <= to, { message: "must not be below from", path: ["to"] }),
    z.strictObject({
      kind: z.literal("logNormal"),
      median: z.number().positive(),
      sigma: z.number().positive().meta({ description: "Standard deviation of the logarithm of the length." }),
      most: whole.meta({ description: "Longer lengths are cut to this maximum, which the plan assumes." }),
    }),
    z.strictObject({
      kind: z.literal("empirical"),
      file: z.string().min(1).meta({
        description:
          "File with one length per line, all drawn with the same probability; its path is relative to the workload file.",
      }),
    }),
  ]),
]);

const seconds = z.number().nonnegative();

/** Times in the format of workload files, s. */
export const secondsSchema = z.union([
  seconds,
  z.discriminatedUnion("kind", [
    z
      .strictObject({ kind: z.literal("uniform"), from: seconds, to: seconds })
      .refine(({ from, to }) => from <= to, { message: "must not be below from", path: ["to"] }),
    z.strictObject({
      kind: z.literal("logNormal"),
      median: z.number().positive(),
      sigma: z.number().positive(),
      most: z.number().positive(),
    }),
  ]),
]);

/** @returns integer milliseconds. */
export function resolveMs(written: z.infer<typeof secondsSchema>): Lengths {
  const ms = (s: number) => Math.round(s * 1_000);
  if (typeof written === "number") return ms(written);
  return written.kind === "uniform"
    ? { ...written, from: ms(written.from), to: ms(written.to) }
    : { ...written, median: written.median * 1_000, most: ms(written.most) };
}

/** @param fileOf resolves the path of a file that the workload names. @throws ConfigError if a file of lengths is unusable. */
export function resolveLengths(written: z.infer<typeof lengthsSchema>, fileOf: (name: string) => string): Lengths {
  if (typeof written === "number" || written.kind !== "empirical") return written;
  return { kind: "empirical", lengths: readLengths(fileOf(written.file)) };
}

/** Maximum number of problems listed; a file of the wrong kind has one per line. */
const MAX_PROBLEMS = 10;

function readLengths(path: string): number[] {
  const problems: ConfigProblem[] = [];
  const lengths = readText(path)
    .split("\n")
    .flatMap((line, index) => {
      if (line.trim() === "") return [];
      const parsed = whole.safeParse(Number(line));
      if (parsed.success) return [parsed.data];
      problems.push({ file: path, line: index + 1, path: "", message: "expected a whole number above 0." });
      return [];
    });
  if (problems.length > 0) throw new ConfigError(problems.slice(0, MAX_PROBLEMS));
  if (lengths.length === 0) throw new ConfigError([{ file: path, path: "", message: "holds no lengths." }]);
  return lengths;
}
