import type { Running } from "./program.ts";
import type { CUTS } from "./provider.ts";

/** Where a gateway is tried. */
export interface Place {
  /** Copy of the example's folder, in which the gateway is started and Gauntlet is run. */
  readonly example: string;
  /** Folder with what is installed. */
  readonly tools: string;
  readonly logs: string;
  readonly port: number;
  /** What the example's programs read from the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A gateway that nobody here wrote. */
export interface Gateway {
  /** Name of its folder under `examples/`. */
  readonly name: string;
  /** What tables call it. */
  readonly title: string;
  /** Port that the example expects it on. */
  readonly port: number;
  /** Whether the example's `set-up.mjs` is run before the gateway is started, or talks to it. */
  readonly setUp: "before" | "after";
  /** How streams of the provider behind it break off: in the way that this gateway has something to show for. */
  readonly cut: keyof typeof CUTS;
  /** @returns why it cannot be tried on this machine. */
  missing(): string | undefined;
  /** Installs exact versions; what is there already is left. */
  install(tools: string): void;
  /** @returns when it answers. */
  start(place: Place): Promise<Running>;
}
