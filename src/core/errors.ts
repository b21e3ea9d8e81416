import { EXIT, type ExitCode } from "./exit-code.ts";

interface ErrorDetails {
  /** What to do next, in one sentence. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Mistakes of ours or of the operator. What a gateway does wrong is a verdict and is never thrown. `code` is stable and part of
 * the interface; `exit` is the exit code of the command line.
 */
export abstract class GauntletError extends Error {
  abstract readonly code: string;
  abstract readonly exit: ExitCode;
  readonly hint: string | undefined;

  constructor(message: string, { hint, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.hint = hint;
  }
}

/** The command line was wrong, or selected nothing. */
export class UsageError extends GauntletError {
  readonly code = "USAGE";
  readonly exit = EXIT.usage;
}

/** One problem of a file that the operator wrote. */
export interface ConfigProblem {
  /** File as the operator named it. */
  readonly file: string;
  /** 1-based; absent if the problem has no place in the text (an unset variable has the place of its reference). */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Path inside the document, e.g. `keys.valid`. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Configuration that cannot be used. Lists all problems. */
export class ConfigError extends GauntletError {
  readonly code = "CONFIG";
  readonly exit = EXIT.usage;
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], details: ErrorDetails = {}) {
    super(problems.map(describeProblem).join("\n"), details);
    this.problems = problems;
  }
}

function describeProblem({ file, line, column, path, message, hint }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  const where = path === "" ? place : `${place} (${path})`;
  return hint === undefined ? `${where}: ${message}` : `${where}: ${message} ${hint}`;
}

/** Nothing responds at the target's address. */
export class UnreachableError extends GauntletError {
  readonly code = "TARGET_UNREACHABLE";
  readonly exit = EXIT.unreachable;
}

/** Results cannot be stored: the disk is full, or the folder was removed. This makes the run incomplete. */
export class StorageError extends GauntletError {
  readonly code = "STORAGE";
  readonly exit = EXIT.inconclusive;
}

/** A bug in the harness itself. */
export class InternalError extends GauntletError {
  readonly code = "INTERNAL";
  readonly exit = EXIT.internal;
}

/** The text of any thrown value, without its stack. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Operating system error codes of a path, as text. */
const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "the permission is missing",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open",
};

/** Why a file cannot be read or written; for other errors, their text. */
export function fileProblem(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return FILE_PROBLEMS[code] ?? messageOf(thrown);
}
