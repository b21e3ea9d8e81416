import { Traffic } from "../../checks/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { modelFor, type Workload } from "../../load/index.ts";
import type { Target } from "../../target/index.ts";
import type { Permit } from "../control/index.ts";
import { assertIsGateway, modelsToTry, requestModelList, unreachable } from "./preflight.ts";
import { assertKeyAccepted } from "./wrong-key.ts";

/**
 * The target with the models that the requests of workloads need, if they do not name their own.
 *
 * @throws UsageError when neither the target file nor the gateway's list has a model.
 */
export async function loadTargetOf(permit: Permit, workloads: readonly Workload[]): Promise<Target> {
  const { target } = permit;
  const dialects = target.dialects.filter((dialect) =>
    workloads.some(({ mix, tier }) => tier !== undefined || mix.some((one) => isOpen(one, dialect))),
  );
  const hasTier = workloads.some(({ tier }) => tier !== undefined);
  const filled = hasTier ? await fillModels(permit, dialects) : await fillPlain(permit, dialects);
  for (const dialect of dialects) modelFor(filled, dialect, false);
  return filled;
}

function isOpen({ dialect, model }: Workload["mix"][number], requested: Dialect): boolean {
  return dialect === requested && model === undefined;
}

/**
 * Like `fillModels`, for loads other than tiers: their plan and the account count what they send, and no request is spent on
 * models that the target file names. A chat model in the file is used for both dialects.
 */
async function fillPlain(permit: Permit, dialects: readonly Dialect[]): Promise<Target> {
  const { target } = permit;
  const { chat, messages } = target.models;
  if (chat.plain === undefined || !target.dialects.includes("chat")) return fillModels(permit, dialects);
  return { ...target, models: { chat, messages: { ...messages, plain: messages.plain ?? chat.plain } } };
}

/**
 * The target with plain models from the model list if it names none (CLIENT-1), and without models that the gateway does not
 * know in a dialect. Sends nothing when the target file is complete.
 *
 * @throws UnreachableError when a list is needed and no HTTP response arrives.
 * @throws ConfigError when a list is needed, and the target is not a gateway or rejects the key.
 */
export async function fillModels(
  { target, budget }: Pick<Permit, "target" | "budget">,
  dialects: readonly Dialect[] = target.dialects,
): Promise<Target> {
  const { models, source } = target;
  const named = dialects.every((dialect) => models[dialect].plain !== undefined);
  const long = dialects.filter((dialect) => models[dialect].stream !== undefined);
  if (source === "embedded" || (named && long.length === 0)) return target;
  const traffic = new Traffic({ target, budget, seed: 1, signal: new AbortController().signal });
  await using _ = traffic;
  const list = await requestModelList(traffic);
  if (list.status === undefined && dialects.every((dialect) => models[dialect].plain === undefined))
    throw unreachable(target.baseUrl, list);
  await traffic.fillModels(modelsToTry(list));
  if (dialects.some((dialect) => traffic.target.models[dialect].plain === undefined)) {
    await assertIsGateway(traffic, list);
    await assertKeyAccepted(traffic);
  }
  await Promise.all(long.map((dialect) => traffic.fixtures.find("model.stream", dialect)));
  return traffic.target;
}
