import { Recorder } from "../client/index.ts";
import { isObject, member, UnreachableError } from "../core/index.ts";
import type { Workload } from "../load/index.ts";
import type { Target } from "../target/index.ts";
import { endpointUrl, parseJson } from "../wire/index.ts";
import { isModelId } from "./preflight.ts";

/**
 * The target with its plain model filled in from the model list (CLIENT-1), when some request of the workloads needs it.
 *
 * @throws UnreachableError when no HTTP answer comes.
 */
export async function loadTargetOf(target: Target, workloads: readonly Workload[]): Promise<Target> {
  const named = workloads.every(({ mix, tier }) => tier === undefined && mix.every(({ model }) => model !== undefined));
  return named ? target : fillPlainModel(target);
}

/**
 * The target with its plain model taken from the model list when it names none.
 *
 * @throws UnreachableError when no HTTP answer comes.
 */
export async function fillPlainModel(target: Target): Promise<Target> {
  const { models } = target;
  if (models.chat !== undefined) return target;
  await using recorder = new Recorder({
    secrets: [{ name: "key.valid", value: target.keys.valid.reveal() }],
    bounds: { deadlineMs: target.timeouts.answerMs, idleMs: target.timeouts.idleMs },
  });
  const url = endpointUrl(target.baseUrl, "models");
  const authorization = `Bearer ${target.keys.valid.reveal()}`;
  const { response, ending } = await recorder.send({
    method: "GET",
    url,
    headers: [["Authorization", authorization], ...target.extraHeaders.all],
  });
  if (response === undefined) {
    throw new UnreachableError(`no answer from ${target.baseUrl}: ${ending.detail ?? ending.kind}`, {
      hint: "Check baseUrl in the target file, and that the gateway is running.",
    });
  }
  const data = member(parseJson(response.body.text ?? ""), "data");
  const ids = Array.isArray(data) ? data.filter(isObject).map((entry) => entry["id"]) : [];
  const chat = ids.find(isModelId);
  return { ...target, models: { ...models, chat, messages: models.messages ?? chat } };
}
