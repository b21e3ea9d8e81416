import type { Running } from "./program.ts";
import type { CUTS } from "./provider.ts";

/** Where a gateway is tested. */
export interface Place {
  /** Copy of the example's folder, in which the gateway is started and Gauntlet is run. */
  readonly example: string;
  /** Folder with the installed packages. */
  readonly tools: string;
  readonly logs: string;
  readonly port: number;
  /** What the example's programs read from the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A third-party gateway. */
export interface Gateway {
  /** Name of its folder under `examples/`. */
  readonly name: string;
  /** Its name in tables. */
  readonly title: string;
  /** Port that the example expects it on. */
  readonly port: number;
  /** Whether the example's `set-up.mjs` is run before the gateway is started, or contacts it. */
  readonly setUp: "before" | "after";
  /** How streams of its provider are interrupted: in the way that makes a difference for this gateway. */
  readonly cut: keyof typeof CUTS;
  /** @returns why it cannot be tested on this machine. */
  missing(): string | undefined;
  /** Installs exact versions; existing ones are kept. */
  install(tools: string): void;
  /** @returns when it responds. */
  start(place: Place): Promise<Running>;
}
