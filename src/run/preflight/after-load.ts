import { Traffic } from "../../checks/index.ts";
import { isLimitReason } from "../../dialects/index.ts";
import { keysOfLoad, modelFor, type RanLoad, type Workload } from "../../load/index.ts";
import { type Permit, requestsOnly, sumOf } from "../control/index.ts";
import { assertModelExists, listedModels, modelsToTry, type NamedModel, requestModelList } from "./preflight.ts";
import { assertKeysAccepted } from "./wrong-key.ts";

/** A workload that was sent, with its file or name as the operator wrote it. */
export interface SentWorkload {
  readonly workload: Workload;
  readonly source: string;
}

/** Maximum number of requests that find out which listed models are served. */
const LIST_REQUESTS = 30;
/** The same for one key or one model. */
const REQUESTS_EACH = 10;

/**
 * Makes sure after a load that its denials are not due to a wrong key or a misspelt model, so that no verdict is about a mistake of
 * the operator. Nothing is checked before a load, because a single admitted request shows that its key and its model are right.
 *
 * The requests are in addition to the plan; nothing is checked if the budget of the target does not allow them.
 *
 * @param onNotice receives the announcement of these requests.
 * @throws ConfigError if every request was rejected, and the gateway rejects the key elsewhere too, or refuses a model that it
 * neither lists nor serves, although it serves one that it lists.
 */
export async function assertTargetOfLoad(
  runs: readonly RanLoad["run"][],
  sent: readonly SentWorkload[],
  permit: Permit,
  onNotice: (text: string) => void,
): Promise<void> {
  if (permit.target.source === "embedded") return;
  const phases = runs.flatMap((run) => run.phases).filter((phase) => phase.sent > 0);
  const denials = phases.flatMap((phase) => phase.denials);
  const rejections = denials.filter(({ reason }) => !isLimitReason(reason));
  // Others were served, or an account is over its limit: the key is active, and a workload may name an unknown model on purpose.
  if (rejections.length === 0 || rejections.length < denials.length) return;
  if (phases.some((phase) => phase.denied < phase.sent)) return;
  const keys = sent.flatMap(({ workload }) => keysOfLoad(workload, permit.target));
  const models = sent.flatMap((one) => modelsOf(one, permit.target));
  const requests = LIST_REQUESTS + REQUESTS_EACH * (keys.length + models.length);
  if (!permit.more(sumOf([requestsOnly("keys and models", requests)], false))) return;
  onNotice(`every request was rejected: checking the keys and models, at most ${requests} requests`);
  await assertKeysAccepted(permit, keys);
  const { target, budget } = permit;
  await using traffic = new Traffic({ target, budget, seed: 1, signal: new AbortController().signal });
  const list = await requestModelList(traffic);
  const listed = listedModels(list);
  // Without a list there is nothing that a model can be missing from, and the verdict is about the load.
  if (listed.length === 0) return;
  await traffic.fillModels(modelsToTry(list));
  for (const model of models) await assertModelExists(traffic, model, listed);
}

/** The models that the classes of a workload request, each once for each place that names it. */
function modelsOf({ workload, source }: SentWorkload, target: Permit["target"]): NamedModel[] {
  const ofTier = target.dialects.map((dialect) => ({ dialect, stream: false, model: undefined }));
  const classes = workload.tier === undefined ? workload.mix : ofTier;
  const named = classes.map(({ dialect, stream, model }, index): NamedModel => {
    if (model !== undefined) return { id: model, dialect, file: source, path: `mix.${index}.model` };
    const id = modelFor(target, dialect, stream);
    return { id, dialect, file: target.source, path: `models.${dialect}` };
  });
  return [...new Map(named.map((one) => [`${one.path} ${one.id}`, one])).values()];
}
