import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { hookSupplier, loadTarget, type Supplier, startEmbedded, type Target } from "../target/index.ts";

export interface TargetOptions {
  /** Path of a target file, or `embedded`. */
  readonly target: string;
  readonly fault: readonly string[];
  readonly variant: readonly string[];
}

export interface SuppliedTarget extends AsyncDisposable {
  readonly target: Target;
  readonly supplier: Supplier | undefined;
}

/** The target of a run, with the embedded gateway started if it is that. */
export async function supplyTarget(options: TargetOptions, signal: AbortSignal): Promise<SuppliedTarget> {
  if (options.target !== "embedded") {
    const target = loadTarget(options.target, process.env);
    const { provision } = target;
    const supplier =
      provision &&
      hookSupplier({
        command: provision.command,
        file: target.source,
        runId: randomUUID(),
        ...(provision.timeoutS === undefined ? {} : { timeoutMs: provision.timeoutS * 1_000 }),
      });
    return { target, supplier, async [Symbol.asyncDispose]() {} };
  }
  const switches = [
    ...options.fault.flatMap((name) => ["--fault", name]),
    ...options.variant.flatMap((name) => ["--variant", name]),
  ];
  const embedded = await startEmbedded({ command: [process.execPath, mainFile(), "gateway", ...switches], signal });
  // With a fault or a variant it is another gateway: the record says so, and so do the commands that repeat it.
  const { fault, variant } = options;
  const configuration = {
    target: "embedded",
    ...(fault.length === 0 ? {} : { faults: fault }),
    ...(variant.length === 0 ? {} : { variants: variant }),
  };
  return { ...embedded, target: { ...embedded.target, configuration } };
}

/** Our own entry file: the embedded gateway is this program, started again. */
export function mainFile(): string {
  return fileURLToPath(new URL(`../main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));
}

export function defaultFolder(startedAt: Date, target: Pick<Target, "name">): string {
  const time = startedAt.toISOString().replace(/[:.]/g, "-").slice(0, 23);
  return `gauntlet-runs/${time}-${target.name.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 40)}`;
}
