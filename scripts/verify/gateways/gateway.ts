import type { Running } from "./program.ts";
import type { CUTS } from "./provider.ts";

/** Where a program of a gateway is started. */
export interface ProgramPlace {
  /** Copy of the example's folder, in which the gateway is started and Gauntlet is run. */
  readonly example: string;
  /** Folder with the installed packages. */
  readonly tools: string;
  readonly logs: string;
  readonly port: number;
  /** What the example's programs read from the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where a gateway is tested. */
export interface Place extends ProgramPlace {
  /** The port that is used in place of one of the example. */
  portOf(port: number): number;
}

/** One command of Gauntlet against a gateway. */
export interface GatewayRun {
  /** Name of the folder with its record. */
  readonly name: string;
  readonly command: readonly string[];
  /** Treat a run that could not judge everything as an error: otherwise a run in which every check is blocked would be accepted. */
  readonly mustDecide?: true;
}

/** A third-party gateway. */
export interface Gateway {
  /** Name of its folder under `examples/`. */
  readonly name: string;
  /** Its name in tables. */
  readonly title: string;
  /** Port that the example expects it on. */
  readonly port: number;
  /** Further ports of the example. */
  readonly otherPorts?: readonly number[];
  /** Folder of its example, if not its name; and which lines of it differ. */
  readonly example?: { readonly name: string; readonly edit?: (path: string, text: string) => string };
  /** File in the example with what its runs are expected to show; default: expected.yaml. */
  readonly expected?: string;
  /** Only if it is named on the command line. */
  readonly onlyByName?: true;
  /** What is run; default: all checks. */
  readonly runs?: readonly GatewayRun[];
  /** The profiles that it claims in the published matrix; absent: it is not in it. */
  readonly profiles?: readonly string[] | undefined;
  /** Programs that it needs in PATH, from what is installed. */
  readonly programs?: (tools: string) => string;
  /** Whether the example's `set-up.mjs` is run before the gateway is started, or contacts it. */
  readonly setUp: "before" | "after";
  /** How streams of its provider are interrupted: in the way that makes a difference for this gateway. */
  readonly cut: keyof typeof CUTS;
  /** Its provider is `gauntlet upstream`, with its control interface. Default: the reference gateway. */
  readonly scripted?: true;
  /** @returns why it cannot be tested on this machine. */
  missing(): string | undefined;
  /** Installs exact versions; existing ones are kept. */
  install(tools: string): void;
  /** @returns when it responds. */
  start(place: Place): Promise<Running>;
}
