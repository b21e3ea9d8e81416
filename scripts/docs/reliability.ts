import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Results of `npm run verify adversary -- --write`, on the machine that it last ran on. */
export interface Reliability {
  readonly adversary: {
    readonly behaviours: number;
    readonly commands: number;
    readonly cases: number;
    readonly survived: number;
    readonly longestS: number;
    readonly boundS: number;
    readonly largestMib: number;
    readonly boundMib: number;
  };
  /** Commands with keys that occur nowhere else, against a gateway that repeats them. */
  readonly canaries: {
    readonly cases: number;
    readonly survived: number;
    readonly commands: number;
    readonly files: number;
    readonly searchedKib: number;
  };
  readonly kills: {
    readonly cases: number;
    readonly survived: number;
    /** How far the runs had got, according to their journals. */
    readonly phases: Readonly<Record<string, number>>;
  };
  readonly fuzz: { readonly readers: number; readonly inputs: number; readonly broken: number };
}

export const RELIABILITY_FILE = fileURLToPath(
  new URL("../../docs/internal/measured/reliability.json", import.meta.url),
);

export function keptReliability(): Reliability {
  return JSON.parse(readFileSync(RELIABILITY_FILE, "utf8"));
}

/** The figures in one sentence each, for a terminal and for the page. */
export function reliabilityLines({ adversary, canaries, kills, fuzz }: Reliability): string[] {
  const phases = Object.entries(kills.phases).map(([phase, count]) => `${count} ${phase}`);
  return [
    `adversary: ${adversary.survived} of ${adversary.cases} cases survived (${adversary.behaviours} behaviours, ${adversary.commands} commands); longest ${adversary.longestS} s (bound ${adversary.boundS}), largest ${adversary.largestMib} MiB (bound ${adversary.boundMib})`,
    `canaries: ${canaries.survived} of ${canaries.cases} cases showed no key (${canaries.commands} commands, ${canaries.files} files, ${canaries.searchedKib} KiB searched)`,
    `kills: ${kills.survived} of ${kills.cases} runs killed at random lost nothing (${phases.join(", ")})`,
    `fuzz: ${fuzz.inputs} inputs for ${fuzz.readers} readers, ${fuzz.broken} readers broken`,
  ];
}

/** The table of the page. */
export function reliabilityFigures(): string {
  const { adversary, canaries, kills, fuzz } = keptReliability();
  const phases = Object.entries(kills.phases).map(([phase, count]) => `${count} ${phase}`);
  return [
    "| test | cases | passed | |",
    "|---|---|---|---|",
    `| hostile gateways | ${adversary.cases} | ${adversary.survived} | ${adversary.behaviours} behaviours, ${adversary.commands} commands; longest run ${adversary.longestS} s (bound ${adversary.boundS} s), largest ${adversary.largestMib} MiB (bound ${adversary.boundMib} MiB) |`,
    `| keys that must not leak | ${canaries.cases} | ${canaries.survived} | ${canaries.commands} commands that succeed, fail or are killed; ${canaries.files} files, ${canaries.searchedKib} KiB searched |`,
    `| runs killed at random moments | ${kills.cases} | ${kills.survived} | by progress: ${phases.join(", ")} |`,
    `| random inputs | ${fuzz.inputs} | ${fuzz.broken === 0 ? fuzz.inputs : `all but ${fuzz.broken} readers`} | ${fuzz.readers} readers |`,
  ].join("\n");
}
