import type { RunRecord } from "../../src/record/index.ts";
import { embeddedSwitches } from "./reproduce.ts";
import { quoted } from "./shell.ts";

/** The parts of an exchange that a reproduction needs; already redacted. */
export interface Reproducible {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly body?: string | undefined;
    /** Length of the body that was sent. */
    readonly bodyBytes?: number | undefined;
  };
  readonly key?: string | undefined;
}

/** A terminal passes on at most 4,096 bytes of a line to a program without its own line editing. */
const MAX_COMMAND_BYTES = 4_000;

/**
 * A command that repeats a request, with the key in a variable. It is always complete: a command that lacks a part of the body
 * would send another request.
 *
 * @param variableOf name of the environment variable that holds a key, by the key's name.
 * @returns `undefined` if the command would be too long to paste, or if the body is not text or was not recorded in full.
 */
export function curlLine({ request, key }: Reproducible, variableOf: (key: string) => string): string | undefined {
  const { method, url, headers, body, bodyBytes } = request;
  if (body !== undefined && bodyBytes !== undefined && Buffer.byteLength(body) !== bodyBytes) return undefined;
  // No argument of a program can contain a null character.
  if (body?.includes("\0")) return undefined;
  const parts = ["curl", "-sS", "-i", ...(method === "GET" ? [] : ["-X", method]), quoted(url)];
  for (const [name, value] of headers) {
    const credential = key !== undefined && name.toLowerCase() === "authorization";
    // Double quotes let the shell expand the variable.
    parts.push("-H", credential ? `"${name}: Bearer $${variableOf(key)}"` : quoted(`${name}: ${value}`));
  }
  if (body !== undefined) parts.push("--data-binary", quoted(body));
  const command = parts.join(" ");
  return Buffer.byteLength(command) > MAX_COMMAND_BYTES ? undefined : command;
}

/**
 * What the masks of a command stand for, one sentence each. A check may have changed a key, or cut it: only the reader knows which
 * characters were sent.
 */
export function maskNotes(command: string, variableOf: (key: string) => string): string[] {
  const notes = [...command.matchAll(/\[key\.([\w.-]+)\]\**/g)].map(
    ([mask, key = ""]) =>
      `[key.${key}]${mask.endsWith("*") ? "***" : ""} hides ${mask.length} characters of the key in $${variableOf(key)}; put them in its place.`,
  );
  return [...new Set(notes)];
}

/** What a reader must do before the commands work: set the variables of the keys, and start an embedded gateway again. */
export function curlPreparation(commands: readonly string[], record: RunRecord): string[] {
  const variables = [...new Set(commands.flatMap((command) => /Bearer \$(\w+)"/.exec(command)?.[1] ?? []))];
  const set = variables.map((variable) => `${variable}=…`).join(" ");
  const key = set === "" ? [] : [`Set the ${variables.length === 1 ? "key" : "keys"} first: export ${set}`];
  if (commands.length === 0 || record.target.source !== "embedded") return key;
  const again = ["gauntlet gateway", ...embeddedSwitches(record)].join(" ");
  return [
    ...key,
    `The embedded gateway stopped at the end of the run. Start it again with \`${again}\`, and use the address and keys that it prints instead of ${record.target.baseUrl} and those in the ${commands.length === 1 ? "command" : "commands"}.`,
  ];
}

/** The variable that the target file names for a key, or a default name. */
export function keyVariables(configuration: unknown): (key: string) => string {
  const references = new Map<string, string>();
  collect(configuration, [], references);
  return (key) => references.get(key) ?? `GAUNTLET_KEY_${key.replace(/[^A-Za-z0-9]/g, "_").toUpperCase()}`;
}

function collect(value: unknown, path: readonly string[], references: Map<string, string>): void {
  if (typeof value === "string" && value.startsWith("env:")) {
    references.set(path[0] === "keys" ? path.slice(1).join(".") : path.join("."), value.slice(4));
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) collect(inner, [...path, name], references);
}
