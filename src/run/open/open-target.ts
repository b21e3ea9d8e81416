import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../core/index.ts";
import {
  hookProvisioner,
  loadTarget,
  type Provisioner,
  startEmbedded,
  type Target,
  withPlaceholders,
} from "../../target/index.ts";
import type { OnProgress } from "../control/index.ts";

export interface TargetOptions {
  /** Path of a target file, or `embedded`; default `gauntlet.yaml` if it exists. */
  readonly target?: string | undefined;
  /** Of the embedded gateway. */
  readonly mutation?: readonly string[];
  readonly variant?: readonly string[];
  readonly replicas?: number | undefined;
  /** A program reads the verdict, so the target must be explicit. */
  readonly json?: boolean | undefined;
  /** A policy decides: likewise. */
  readonly policy?: string | undefined;
  /** Nothing is sent, so variables that hold keys need not be set. */
  readonly dryRun?: boolean | undefined;
}

/** Default target file, as written by `gauntlet init`. */
const TARGET_FILE = "gauntlet.yaml";
const EMBEDDED = "embedded";

/**
 * The target of a command: the given one, otherwise `gauntlet.yaml` in this folder. Only a person at a terminal gets the
 * embedded gateway by default: a release gate must not pass for a gateway that nobody ships.
 *
 * @throws UsageError when no target is given and the verdict could be mistaken for that of a production gateway.
 */
function chooseTarget(
  { target, mutation = [], variant = [], replicas, json = false, policy }: TargetOptions,
  onProgress: OnProgress,
): string {
  const changed = mutation.length + variant.length > 0 || replicas !== undefined;
  if (target !== undefined) {
    if (!changed || target === EMBEDDED) return target;
    const given = replicas === undefined ? "--mutation and --variant change" : "--replicas changes";
    throw new UsageError(`${given} the embedded gateway, but the target is ${target}`, {
      hint: "Omit them, or pass --target embedded.",
    });
  }
  if (changed) return EMBEDDED;
  const file = targetFileOf({});
  if (file !== undefined) return file;
  const mode = policy !== undefined ? "With --policy" : json ? "With --json" : unattendedMode();
  if (mode !== undefined) {
    throw new UsageError(`no target is named, and there is no ${TARGET_FILE} here`, {
      hint: `${mode}, the target must be given: --target FILE, or --target embedded for the reference gateway.`,
    });
  }
  const text = `no --target and no ${TARGET_FILE} here: the embedded reference gateway is the target`;
  onProgress({ kind: "notice", text });
  return EMBEDDED;
}

/** Path of the target file of a command; `undefined` if it has the embedded gateway as its target. */
export function targetFileOf({ target, mutation = [], variant = [], replicas }: TargetOptions): string | undefined {
  if (target !== undefined) return target === EMBEDDED ? undefined : target;
  return mutation.length + variant.length === 0 && replicas === undefined && existsSync(TARGET_FILE)
    ? TARGET_FILE
    : undefined;
}

/** Why the run counts as unattended; `undefined` at a terminal. A cron job has neither a terminal nor `CI`. */
function unattendedMode(): string | undefined {
  if (isCi(process.env)) return "In CI";
  return process.stdout.isTTY === true || process.stderr.isTTY === true ? undefined : "Without a terminal";
}

function isCi({ CI }: NodeJS.ProcessEnv): boolean {
  return CI !== undefined && !["", "0", "false"].includes(CI.toLowerCase());
}

export interface OpenTarget extends AsyncDisposable {
  readonly target: Target;
  readonly provisioner: Provisioner | undefined;
}

/** The target of a run; starts the embedded gateway if that is the target. */
export async function openTarget(
  options: TargetOptions,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: OnProgress },
): Promise<OpenTarget> {
  const chosen = chooseTarget(options, onProgress);
  if (chosen !== EMBEDDED) {
    const target = loadTarget(chosen, options.dryRun === true ? withPlaceholders(process.env) : process.env);
    const { provision } = target;
    const provisioner =
      provision &&
      hookProvisioner({
        command: provision.command,
        file: target.source,
        runId: randomUUID(),
        ...(provision.timeoutS === undefined ? {} : { timeoutMs: provision.timeoutS * 1_000 }),
      });
    return { target, provisioner, async [Symbol.asyncDispose]() {} };
  }
  const { mutation = [], variant = [], replicas } = options;
  const switches = [
    ...mutation.flatMap((name) => ["--mutation", name]),
    ...variant.flatMap((name) => ["--variant", name]),
  ];
  // Replicas have no providers whose requests could be observed.
  const form = replicas === undefined ? ["--with-upstream"] : ["--replicas", String(replicas)];
  onProgress({ kind: "step", text: "starting the reference gateway" });
  const embedded = await startEmbedded({
    command: [process.execPath, mainFile(), "gateway", ...form, ...switches],
    signal,
  });
  // A mutation or a variant makes it a different gateway: the record and the commands that repeat the run include it.
  const configuration = {
    target: "embedded",
    ...(mutation.length === 0 ? {} : { mutations: mutation }),
    ...(variant.length === 0 ? {} : { variants: variant }),
    ...(replicas === undefined ? {} : { replicas }),
  };
  return { ...embedded, target: { ...embedded.target, configuration } };
}

/** Our own entry file: the embedded gateway is another process of this program. */
export function mainFile(): string {
  return fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../main.ts" : "../main.js", import.meta.url));
}

/** The default folder of runs, relative to the working directory. */
export const RUNS_FOLDER = "gauntlet-runs";

export function defaultFolder(startedAt: Date, target: Pick<Target, "name">): string {
  const time = startedAt.toISOString().replace(/[:.]/g, "-").slice(0, 23);
  return `${RUNS_FOLDER}/${time}-${target.name.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 40)}`;
}
