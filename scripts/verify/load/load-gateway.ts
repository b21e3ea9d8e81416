import { RequestBudget } from "../../../src/budget/index.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { runTier, Waves } from "../../../src/load/index.ts";
import type { JudgedRun } from "../../../src/record/index.ts";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { describeEmbedded, type ReadyLine } from "../../../src/target/index.ts";
import { type FrontOptions, startProxy } from "../../../test/support/front.ts";
import { http2Front } from "../../../test/support/http2-front.ts";

export interface LoadGatewayOptions {
  readonly mutations?: readonly string[];
  readonly variants?: readonly string[];
  /** Limits of the account; small ones keep many parallel runs cheap. */
  readonly limits?: { readonly rpm: number; readonly inFlight: number };
  readonly length?: "thorough" | "brief" | "quick";
  /** Through a proxy that speaks HTTP/2; default false. */
  readonly http2?: boolean;
  /** Sends through a proxy that changes requests or responses. */
  readonly front?: FrontOptions;
  /** Called when a phase has ended. */
  readonly onPhase?: (name: string) => void;
}

/** Starts a reference gateway in this process with the given switches and runs a tier with these limits against it. */
export async function loadGateway({
  mutations = [],
  variants = [],
  limits = { rpm: 300, inFlight: 24 },
  length = "thorough",
  http2 = false,
  front: changed,
  onPhase,
}: LoadGatewayOptions): Promise<JudgedRun> {
  await using gateway = await startGateway({ mutations, variants, limits });
  const { target: own } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  await using front = http2 ? await http2Front(own.baseUrl) : changed && (await startProxy(own.baseUrl, changed));
  const target = { ...own, baseUrl: front?.baseUrl ?? own.baseUrl, ...(http2 && { http: 2 as const }) };
  const { valid, second = valid } = target.keys;
  const never = new AbortController().signal;
  const { run } = await runTier(
    { name: "tier", limits, written: null, length, waves: new Waves() },
    {
      target,
      budget: new RequestBudget(target.budget),
      keys: [valid, second],
      seed: 7,
      stop: never,
      abort: never,
      redactor: new Redactor([]),
      onSample: () => undefined,
      onPhase: (_run, { name }) => onPhase?.(name),
      calibration: null,
    },
  );
  return run;
}

/** Names of what a run found broken, each once; warnings have a question mark. */
export function brokenIn(run: JudgedRun): string[] {
  const broken = run.phases.flatMap(({ findings }) => findings.filter(({ outcome }) => outcome === "broken"));
  return [...new Set(broken.map(({ name, weight }) => (weight === "fail" ? name : `${name}?`)))];
}
