import { readFileSync } from "node:fs";
import * as z from "zod";
import { ConfigError, fileProblem } from "../../core/index.ts";
import type { LoadPlan } from "../../load/index.ts";

/** The part of `plan.json` that judging needs; the scripts read the rest. */
const storedPlan = z.looseObject({
  version: z.literal(1),
  name: z.string(),
  seed: z.number(),
  phases: z
    .array(z.strictObject({ name: z.string(), title: z.string(), startMs: z.number(), endMs: z.number() }))
    .min(1),
  groups: z
    .array(
      z.looseObject({
        scenario: z.string(),
        phase: z.string(),
        role: z.string(),
        retryAfter: z.enum(["none", "compliant", "ignoring"]),
      }),
    )
    .min(1),
  remarks: z.array(z.string()),
  judge: z.strictObject({
    limits: z.strictObject({ rpm: z.int().positive(), inFlight: z.int().positive() }).nullable(),
    keys: z.array(z.string()),
    workload: z.unknown(),
    retryAfter: z.enum(["none", "compliant", "ignoring"]),
    allow: z.strictObject({
      deniedShare: z.number(),
      failedShare: z.number(),
      invalidShare: z.number(),
      emptyShare: z.number(),
    }),
  }),
});

export interface StoredPlan {
  readonly name: string;
  readonly seed: number;
  readonly plan: LoadPlan;
  readonly judge: z.infer<typeof storedPlan>["judge"];
}

/** @throws ConfigError when the file is not a plan. */
export function readStoredPlan(path: string): StoredPlan {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ConfigError([{ file: path, path: "", message: `cannot be read: ${fileProblem(error)}.` }], {
      hint: "Name the plan.json that was played with --plan.",
      cause: error,
    });
  }
  const read = storedPlan.safeParse(json);
  if (!read.success)
    throw new ConfigError(
      read.error.issues.map((issue) => ({ file: path, path: issue.path.join("."), message: `${issue.message}.` })),
      { hint: "It must be the plan.json that `gauntlet k6 export` wrote." },
    );
  const { name, seed, judge } = read.data;
  return { name, seed, judge, plan: read.data as unknown as LoadPlan };
}
