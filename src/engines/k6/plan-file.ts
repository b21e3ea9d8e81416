import { denialWords } from "../../judging/index.ts";
import type { Target } from "../../target/index.ts";

/** A phase or group as passed to the scripts, which know its fields (`suites/k6/plan.ts`). */
interface Groups {
  readonly groups: readonly {
    readonly scenario: string;
    readonly phase: string;
    readonly role: string;
    readonly retryAfter: string;
  }[];
}

export interface PlanFileOptions {
  readonly name: string;
  readonly plan: Groups;
  readonly target: Target;
  /** Paths relative to the base address. */
  readonly paths: Readonly<Record<"chat" | "messages", string>>;
  readonly keys: number;
  readonly seed: number;
  readonly retry: object;
  /** Judged by limits: what must never happen fails a threshold. */
  readonly tier: boolean;
  /** Settings for judging the samples later; the scripts do not read it. */
  readonly judge: object;
  readonly allow: Readonly<Record<"deniedShare" | "failedShare" | "invalidShare" | "emptyShare", number>>;
}

/** Added to every Retry-After wait, ms. */
const GRACE_MS = 30;
/** If nothing has been admitted by then, the test is aborted. */
const ADMITTED_WITHIN = "60s";

export interface PlanFile {
  /** The content of `plan.json`: no key, and no header that was given by reference. */
  readonly content: object;
  /** Environment of the scripts, without keys. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Writes a plan and the target into the file that the scripts read. All secrets go into the environment instead. */
export function planFile(options: PlanFileOptions): PlanFile {
  const { name, plan, target, paths, keys, seed, retry } = options;
  const secrets: Record<string, string> = {};
  const headersOf = (dialect: "chat" | "messages") => {
    const own: (readonly [string, string])[] = [
      ...(dialect === "messages" ? [[target.headers.version, target.headers.versionValue] as const] : []),
      ["User-Agent", "gateway-gauntlet-k6"],
      ...target.extraHeaders.all,
      ...target.extraHeaders[dialect],
    ];
    return own.map(([header, value]) => {
      const secret = target.extraSecrets.findIndex((key) => key.reveal() === value);
      if (secret === -1) return { name: header, value };
      const env = `GAUNTLET_HEADER_${secret + 1}`;
      secrets[env] = value;
      return { name: header, env };
    });
  };
  const { reasonFrom = "header" } = target.contract;
  const content = {
    version: 1,
    name,
    baseUrl: target.baseUrl,
    paths,
    reasonHeader: target.headers.reason,
    reasonPointer: reasonFrom === "header" ? null : reasonFrom,
    denials: denialWords(target.contract) ?? [],
    headers: { chat: headersOf("chat"), messages: headersOf("messages") },
    keys,
    responseMs: target.timeouts.responseMs,
    seed,
    retry: { ...retry, graceMs: GRACE_MS },
    ...plan,
    thresholds: thresholdsOf(options),
    judge: options.judge,
  };
  return { content, secrets };
}

/**
 * What k6 can decide alone and per instance: upper bounds on counts. Shares and per-minute figures need all samples and are
 * judged after merging.
 */
function thresholdsOf({ tier, allow }: PlanFileOptions): Record<string, (string | object)[]> {
  const always = {
    // Do not load a gateway that admits nothing until the end of the plan.
    gauntlet_served: [{ threshold: "rate>0", abortOnFail: true, delayAbortEval: ADMITTED_WITHIN }],
    gauntlet_invalid: [`rate<=${Math.max(allow.invalidShare, allow.emptyShare)}`],
    gauntlet_early_sends: ["count==0"],
    gauntlet_forbidden_retries: ["count==0"],
    dropped_iterations: ["count==0"],
  };
  if (tier)
    return {
      ...always,
      gauntlet_failures: ["count<=1"],
      "gauntlet_denials{phase:warm-up}": ["count==0"],
      "gauntlet_denials{phase:at-rate-limit}": ["count<=1"],
    };
  return {
    ...always,
    ...(allow.failedShare === 0 ? { gauntlet_failures: ["count==0"] } : {}),
    ...(allow.deniedShare === 0 ? { gauntlet_denials: ["count==0"] } : {}),
  };
}
