import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InternalError } from "../../core/index.ts";
import { endpointUrl } from "../../dialects/index.ts";
import { type PlanFile, planFile } from "../../engines/index.ts";
import {
  accountOf,
  DEFAULT_RETRY,
  keysOfLoad,
  type LoadPlan,
  planTier,
  planWorkload,
  type Workload,
} from "../../load/index.ts";
import { assertOneAddress, type Key, type Limits, type Target } from "../../target/index.ts";

export interface K6Plan {
  readonly plan: LoadPlan;
  readonly file: PlanFile;
  readonly limits: Limits | null;
  /** In the order of `GAUNTLET_KEY`, `GAUNTLET_KEY_2`. */
  readonly keys: readonly Key[];
}

/** Names of the variables that hold the keys. */
export const KEY_VARIABLES = ["GAUNTLET_KEY", "GAUNTLET_KEY_2"] as const;

/** Converts a workload and a target into what the scripts play. */
export function planForK6(workload: Workload, target: Target, thorough: boolean, seed: number): K6Plan {
  assertOneAddress(target, "k6");
  const account = workload.tier === undefined ? undefined : accountOf(workload, target);
  const plan = account === undefined ? planWorkload(workload, target) : planTier(account.limits, target, thorough);
  const keys = keysOfLoad(workload, target);
  const base = target.baseUrl.replace(/\/+$/, "");
  const pathOf = (endpoint: "chat" | "messages") => endpointUrl(target.baseUrl, endpoint).slice(base.length);
  const file = planFile({
    name: workload.name,
    plan,
    target,
    paths: { chat: pathOf("chat"), messages: pathOf("messages") },
    keys: keys.length,
    seed,
    retry: DEFAULT_RETRY,
    tier: account !== undefined,
    allow: workload.allow,
    judge: {
      limits: account === undefined ? null : account.limits,
      keys: keys.map((key) => key.name),
      workload: workload.written,
      retryAfter: workload.retryAfter,
      allow: workload.allow,
    },
  });
  return { plan, file, limits: account?.limits ?? null, keys };
}

/** Folder of the scripts; it is at the same depth relative to the source and to the build. */
export function scriptFolder(): string {
  const folder = fileURLToPath(new URL("../../../suites/k6", import.meta.url));
  if (!existsSync(join(folder, "gauntlet.ts")))
    throw new InternalError("the scripts for k6 are missing from this installation");
  return folder;
}
