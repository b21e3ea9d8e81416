import { existsSync, readFileSync } from "node:fs";
import type { Finding, Status } from "../../../src/record/index.ts";

/** The result of a run against one mutation or variant. */
export interface Judgement {
  readonly kind: "mutations" | "variants";
  readonly name: string;
  readonly ms: number;
  readonly requests: number;
  /** Results that are neither pass nor observed nor not-applicable. */
  readonly bad: readonly {
    readonly id: string;
    readonly status: Status;
    readonly requirements: readonly string[];
    readonly message: string;
    /** The broken ones. */
    readonly findings: Finding[];
  }[];
  /** Profiles that the gateway does not conform to. Absent in a judgement of an earlier build. */
  readonly failedProfiles?: readonly string[];
  readonly error?: string;
}

export function readJudgements(file: string): Judgement[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Judgement);
}
