import { RequestBudget } from "../../../src/budget/index.ts";
import { coverageOf, type Instance, instancesOf, runChecks, suiteOf, Traffic } from "../../../src/checks/index.ts";
import { startGatewayInFront } from "../../../src/commands/gateway/gateway-in-front.ts";
import { judgeProfiles } from "../../../src/policy/index.ts";
import type { CheckResult, ProfileResult } from "../../../src/record/index.ts";
import type { GatewayOptions } from "../../../src/reference-gateway/index.ts";
import { PROFILE_NAMES } from "../../../src/requirements/index.ts";
import { claimedBy } from "../../../src/run/conformance/claimed-profiles.ts";
import { prepare } from "../../../src/run/preflight/preflight.ts";
import { describeEmbedded, type ReadyLine, type Target } from "../../../src/target/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import { startReplicasHere } from "./start-replicas.ts";

export interface JudgeOptions {
  readonly mutations?: readonly string[];
  readonly variants?: readonly string[];
  readonly suites?: readonly string[];
  readonly instances?: readonly Instance[];
  /** Whether scenarios skip parts that wait. */
  readonly isQuick?: boolean;
  /** A limit on tokens per minute, which the target then declares. Default: only if a switch is about it. */
  readonly tokens?: GatewayOptions["tokens"];
  /** What its target file says differently. Default: nothing. */
  readonly describe?: (target: Target) => Target;
  /** Number of gateways that share their state. Default: two if a switch is about replicas, else one. */
  readonly replicas?: number;
}

/** Small, because the checks send twice as much. Large enough for a request of one twenty-fourth of it. */
const TOKENS = { perMinute: 4_000 } as const;

export interface Judged {
  readonly results: readonly CheckResult[];
  /** Every profile, as if the gateway claimed all of them. */
  readonly profiles: readonly ProfileResult[];
  readonly requests: number;
}

/** Starts a reference gateway in this process with the given switches and judges it. */
export async function judgeGateway({
  mutations = [],
  variants = [],
  suites,
  instances,
  isQuick = false,
  tokens = [...mutations, ...variants].some((name) => name.startsWith("tokens.")) ? TOKENS : undefined,
  describe = (target) => target,
  replicas = [...mutations, ...variants].some((name) => name.startsWith("replicas.")) ? 2 : 1,
}: JudgeOptions): Promise<Judged> {
  const among =
    instances ?? CHECKS.filter(({ id }) => suites === undefined || suites.includes(suiteOf(id))).flatMap(instancesOf);
  // What replicas do not share is the subject of one suite; the others would take minutes and find parts of the same again.
  const chosen = replicas > 1 ? among.filter(({ check }) => suiteOf(check.id) === "replicas") : among;
  await using gateway =
    replicas > 1
      ? await startReplicasHere({ mutations, variants }, replicas)
      : await startGatewayInFront({ mutations, variants, tokens });
  const { target: embedded, provisioner } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  const target = describe(embedded);
  const controller = new AbortController();
  await using traffic = new Traffic({
    target,
    budget: new RequestBudget(target.budget),
    provisioner,
    seed: 7,
    signal: controller.signal,
    isQuick,
  });
  await prepare(traffic);
  const results = await runChecks({ instances: chosen, traffic });
  const { declared = [] } = claimedBy(target, PROFILE_NAMES) ?? {};
  const profiles = judgeProfiles(results, { profiles: PROFILE_NAMES, declared, instances: coverageOf(CHECKS) });
  return { results, profiles, requests: traffic.sent.requests };
}
