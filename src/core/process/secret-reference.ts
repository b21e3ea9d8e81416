import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileProblem, UsageError } from "../errors.ts";

export interface SecretSources {
  /** Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Folder that the path of a file is relative to; default: the current one. */
  readonly folder?: string;
  /** `header`: it may begin with a scheme. Default: `key`. */
  readonly kind?: "key" | "header";
}

/** Either the secret, or what is wrong with it as the end of a sentence, and what to do. */
export interface ReadSecret {
  readonly value?: string;
  readonly problem?: string;
  readonly hint?: string;
}

/**
 * What a reference stands for, without the white space around it. What a header cannot carry is reported here rather than by the socket.
 *
 * @param reference `env:NAME` or `file:PATH`.
 */
export function readSecret(reference: string, sources: SecretSources = {}): ReadSecret {
  const { environment = process.env, folder = ".", kind = "key" } = sources;
  const place = reference.slice(reference.indexOf(":") + 1);
  if (!reference.startsWith("env:")) {
    try {
      const text = readFileSync(resolve(folder, place), "utf8").trim();
      return text === "" ? { problem: `file ${place} is empty.` } : checked(text, kind);
    } catch (error) {
      return { problem: `file ${place} cannot be read: ${fileProblem(error)}.` };
    }
  }
  const value = environment[place]?.trim();
  if (value !== undefined && value !== "") return checked(value, kind);
  return {
    problem: `environment variable ${place} is ${value === undefined ? "not set" : "empty"}.`,
    hint: `Set it: export ${place}=…`,
  };
}

function checked(value: string, kind: "key" | "header"): ReadSecret {
  if (kind === "key" && /^bearer\s/i.test(value))
    return { problem: 'has "Bearer" before the key.', hint: "Omit the scheme: only the key belongs there." };
  if (/^(["'`]).*\1$/.test(value))
    return {
      problem: "has quotation marks around the key.",
      hint: "Remove them, or check how the variable is set.",
    };
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(value)) return { value };
  return {
    problem: "contains characters that cannot be sent in a header.",
    hint: "A key is one line of visible ASCII.",
  };
}

/**
 * A key given by an option. The key itself is never on the command line, which every user of the machine can read.
 *
 * @param option that has the reference, as typed. @throws UsageError for anything but `env:NAME` of a variable that is set.
 */
export function keyByReference(option: string, reference: string): string {
  if (!/^env:[A-Za-z_][A-Za-z0-9_]*$/.test(reference))
    throw new UsageError(`${option}: a reference is expected, not a key`, {
      hint: `Put the key into an environment variable and pass ${option} env:NAME.`,
    });
  const { value, problem, hint } = readSecret(reference);
  if (value === undefined)
    throw new UsageError(`${option} ${reference}: ${problem}`, hint === undefined ? {} : { hint });
  return value;
}
