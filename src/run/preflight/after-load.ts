import { Traffic } from "../../checks/index.ts";
import { isLimitReason } from "../../dialects/index.ts";
import { keysOfLoad, modelFor, type RanLoad, type Workload } from "../../load/index.ts";
import { type Permit, requestsOnly, sumOf } from "../control/index.ts";
import {
  assertIsGateway,
  assertModelExists,
  listedModels,
  modelsToTry,
  type NamedModel,
  requestModelList,
} from "./preflight.ts";
import { assertKeyAccepted } from "./wrong-key.ts";

/** A workload that was sent, with its file, or the name of a built-in one. */
export interface SentWorkload {
  readonly workload: Workload;
  readonly source: string;
}

/** To find out which listed models are served. */
const MAX_LIST_REQUESTS = 30;
/** To check one key or one model. */
const MAX_REQUESTS_EACH = 10;

/**
 * Checks after a load whether a wrong base URL, a wrong key or a misspelt model caused the denials, so that a configuration mistake is
 * not reported as a gateway failure. Nothing is checked before a load, because one admitted request proves that all three are correct.
 *
 * These requests are not part of the plan. Nothing is checked if the target's budget does not allow them.
 *
 * @param onNotice called with a notice before these requests are sent.
 * @throws ConfigError if every request was rejected and these requests confirm the cause: no gateway responds at the base URL, the
 * gateway rejects a key, or it neither lists nor serves a model, although it serves one that it lists.
 */
export async function assertLoadConfiguration(
  runs: readonly RanLoad["run"][],
  sent: readonly SentWorkload[],
  { target, budget, more }: Permit,
  onNotice: (text: string) => void,
): Promise<void> {
  if (target.source === "embedded" || !isEveryRequestRejected(runs)) return;
  const keys = new Set(sent.flatMap(({ workload }) => keysOfLoad(workload, target)));
  const models = sent.flatMap((one) => modelsOf(one, target));
  const requests = MAX_LIST_REQUESTS + MAX_REQUESTS_EACH * (keys.size + models.length);
  if (!more(sumOf([requestsOnly("base URL, keys and models", requests)], false))) return;
  onNotice(`every request was rejected: checking the base URL, keys and models, at most ${requests} requests`);
  await using traffic = new Traffic({ target, budget, seed: 1, signal: new AbortController().signal });
  const list = await requestModelList(traffic);
  // Any other response may be a failure of the gateway itself.
  if (list.status === 404 || list.status === 405) await assertIsGateway(traffic, list);
  for (const key of keys) await assertKeyAccepted(traffic, key);
  const listed = listedModels(list);
  // The models of a gateway without a list are unknown, so it is judged by the load.
  if (listed.length === 0) return;
  await traffic.fillModels(modelsToTry(list));
  for (const model of models) await assertModelExists(traffic, model, listed);
}

/**
 * Whether every request was denied, and none by a limit. If some requests were admitted or denied by a limit, the key is active, and
 * a workload may name an unknown model on purpose.
 */
function isEveryRequestRejected(runs: readonly RanLoad["run"][]): boolean {
  const phases = runs.flatMap((run) => run.phases).filter(({ sent }) => sent > 0);
  const denials = phases.flatMap((phase) => phase.denials);
  return (
    denials.length > 0 &&
    denials.every(({ reason }) => !isLimitReason(reason)) &&
    phases.every(({ denied, sent }) => denied === sent)
  );
}

/** The models that a workload requests, with the places that name them. */
function modelsOf({ workload, source }: SentWorkload, target: Permit["target"]): NamedModel[] {
  const ofTier = target.dialects.flatMap((dialect) =>
    [false, true].map((stream) => ({ dialect, stream, model: undefined })),
  );
  const classes = workload.tier === undefined ? workload.mix : ofTier;
  const named = classes.map(({ dialect, stream, model }, index): NamedModel => {
    if (model !== undefined) return { id: model, dialect, file: source, path: `mix.${index}.model` };
    const role = stream && target.models[dialect].stream !== undefined ? ".stream" : "";
    return { id: modelFor(target, dialect, stream), dialect, file: target.source, path: `models.${dialect}${role}` };
  });
  return [...new Map(named.map((one) => [one.path, one])).values()];
}
