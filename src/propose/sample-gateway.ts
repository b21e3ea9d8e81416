import { fabricatedKey } from "../../suites/index.ts";
import type { RequestSpec, Response, Traffic } from "../checks/index.ts";
import type { Dialect } from "../dialects/index.ts";
import { DENIED_KEYS } from "../requirements/index.ts";
import type { SendingPlan } from "../run/control/index.ts";
import { requestsOnly, sumOf } from "../run/control/index.ts";
import { modelsToTry, requestModelList, unreachable } from "../run/preflight/index.ts";
import type { Key, KeyName, Target } from "../target/index.ts";
import type { DenialSample } from "./denial-sample.ts";
import { limitRequests, sampleLimits } from "./sample-limits.ts";

/** Maximum number of requests of a proposal, except those that reach a limit. */
const MAX_REQUESTS = 40;
/** Listed models that are tried until one responds in a dialect. */
const MAX_MODELS = 4;

/** What a dialect showed. */
export interface DialectSample {
  readonly dialect: Dialect;
  /** Tried models in order; the last one was served, if any. */
  readonly tried: readonly { readonly id: string; readonly response: Response }[];
  readonly stream: Response | undefined;
}

/** How a gateway responds to a handful of requests. */
export interface GatewaySample {
  readonly list: Response;
  readonly dialects: readonly DialectSample[];
  readonly denials: readonly DenialSample[];
}

/** The model list, and retries after an ambient denial. */
const LIST_REQUESTS = 3;

/** The maximum that a proposal sends. */
export function proposalPlan(target: Target): SendingPlan {
  return sumOf([requestsOnly("proposal", LIST_REQUESTS + MAX_REQUESTS + limitRequests(target))], false);
}

/**
 * Sends a valid request in each dialect, and one of each denial: at most `MAX_REQUESTS`, one after another, plus those that
 * reach the limits of the accounts under `limited`.
 *
 * @throws UnreachableError when no HTTP response arrives.
 */
export async function sampleGateway(traffic: Traffic): Promise<GatewaySample> {
  const { target } = traffic;
  const list = await requestModelList(traffic);
  if (list.status === undefined) throw unreachable(target.baseUrl, list);
  const sampler = new Sampler(traffic, await deniedKeys(traffic));
  const dialects: DialectSample[] = [];
  for (const dialect of target.dialects) dialects.push(await sampler.dialect(dialect, modelIds(target, dialect, list)));
  const denials = [...(await sampler.keyDenials("models", undefined)), ...(await sampler.strayPath())];
  const served = dialects.filter(isServed).map(({ dialect, tried }) => ({ dialect, id: tried.at(-1)?.id ?? "" }));
  for (const { dialect, id } of served)
    denials.push(...(await sampler.keyDenials(dialect, id)), ...(await sampler.others(dialect, id)));
  denials.push(...(await sampleLimits(traffic, served)));
  return { list, dialects, denials };
}

/**
 * Two keys of each denied state if available, so that their common text does not include the name of a key. The target's own
 * hook creates states for which the file has no key.
 */
async function deniedKeys({ fixtures }: Traffic): Promise<ReadonlyMap<KeyName, readonly Key[]>> {
  const denied = new Map<KeyName, readonly Key[]>();
  for (const { name } of DENIED_KEYS) {
    await fixtures.find(`key.${name}`, "chat");
    const first = fixtures.target.keys[name];
    if (first === undefined) continue;
    const named = name === "empty" ? fixtures.target.keys.emptySecond : undefined;
    const second = named ?? (await fixtures.freshKey(`key.${name}`));
    denied.set(name, [first, ...(second === undefined ? [] : [second])]);
  }
  return denied;
}

export function isServed({ tried }: DialectSample): boolean {
  return tried.at(-1)?.response.admitted === true;
}

/** The model in the target file; otherwise those of the list. */
function modelIds({ models }: Target, dialect: Dialect, list: Response): readonly string[] {
  const named = models[dialect].plain ?? models.chat.plain;
  const listed = modelsToTry(list).filter((id) => id !== named);
  const ids = named === undefined ? listed : [named, ...listed];
  // Without a list, an invented model still shows whether the path exists.
  return ids.length === 0 ? ["gauntlet"] : ids.slice(0, MAX_MODELS);
}

class Sampler {
  readonly #traffic: Traffic;
  #left = MAX_REQUESTS - 1;
  #rounds = 0;
  /** Keys that must be denied, two of each state if available. */
  readonly #denied: ReadonlyMap<KeyName, readonly Key[]>;

  constructor(traffic: Traffic, denied: ReadonlyMap<KeyName, readonly Key[]>) {
    this.#traffic = traffic;
    this.#denied = denied;
  }

  /** @returns `undefined` when the request limit is reached. */
  async #send(request: RequestSpec, dialect: Dialect = "chat"): Promise<Response | undefined> {
    if (this.#left-- <= 0) return undefined;
    return this.#traffic.send(
      { intent: "any", repeats: false, maxTokens: 8, ...request },
      { endpoint: dialect, mode: "non-streaming" },
    );
  }

  async dialect(dialect: Dialect, ids: readonly string[]): Promise<DialectSample> {
    const tried: { id: string; response: Response }[] = [];
    for (const id of ids) {
      const response = await this.#send({ model: { id } }, dialect);
      if (response === undefined) break;
      tried.push({ id, response });
      if (response.admitted) break;
    }
    const last = tried.at(-1);
    const stream =
      last?.response.admitted === true
        ? await this.#send({ model: { id: last.id }, mode: "streaming" }, dialect)
        : undefined;
    return { dialect, tried, stream };
  }

  /** Without a key, and with a key that was never issued. */
  async keyDenials(endpoint: "models" | Dialect, id: string | undefined): Promise<DenialSample[]> {
    const { redactor } = this.#traffic.recorder;
    const invented = fabricatedKey(this.#traffic.target.keys.valid.reveal(), () => this.#traffic.random());
    redactor.add({ name: "key.invented", value: invented });
    const model = id === undefined ? {} : { model: { id } };
    return this.#samples([
      { reason: "invalid_api_key", kind: "no key", request: { ...model, endpoint, key: null } },
      {
        reason: "invalid_api_key",
        kind: "an unknown key",
        key: `invented for ${endpoint}`,
        request: { ...model, endpoint, authorization: `Bearer ${invented}` },
      },
    ]);
  }

  /** Some gateways reject unknown paths like an invalid key, with other wording. */
  async strayPath(): Promise<DenialSample[]> {
    const request: RequestSpec = { endpoint: "models", path: "/models/%zz" };
    const samples = await this.#samples([
      { reason: "invalid_api_key", kind: "a path that does not exist", key: "valid", request },
    ]);
    return samples.filter(({ response }) => response.status === 401);
  }

  /** Unknown models, keys that must be denied, and a body that is rejected for another reason. */
  async others(endpoint: Dialect, id: string): Promise<DenialSample[]> {
    const { keys, limited } = this.#traffic.target;
    const second = keys.second ?? keys.other ?? limited[0]?.key ?? keys.valid;
    const unknown = (name: string, key: Key): SampledRequest => ({
      reason: "model_not_found",
      kind: "an unknown model",
      key: key.name,
      unknownModel: name,
      request: { endpoint, model: { id: name }, key },
    });
    const model = { id };
    const denied = DENIED_KEYS.flatMap(({ name, reason }) =>
      (this.#denied.get(name) ?? []).map(
        (key): SampledRequest => ({
          reason,
          kind: `the key ${name}`,
          key: key.name,
          request: { endpoint, model, key },
        }),
      ),
    );
    const round = ++this.#rounds;
    return this.#samples([
      unknown(`gauntlet-no-such-model-${round}`, keys.valid),
      unknown(`absent-${round}b-turbo`, second),
      {
        reason: undefined,
        kind: "a body without messages",
        key: "valid",
        request: { endpoint, model, omit: ["messages"] },
      },
      ...denied,
    ]);
  }

  async #samples(requested: readonly SampledRequest[]): Promise<DenialSample[]> {
    const samples: DenialSample[] = [];
    for (const { request, ...sample } of requested) {
      const response = await this.#send({ ...request, intent: "denied" });
      if (response?.status === undefined || response.status < 400 || response.status >= 500) continue;
      const what = `${sample.kind} on ${new URL(response.exchange.request.url).pathname}`;
      samples.push({ key: undefined, ...sample, what, response });
    }
    return samples;
  }
}

interface SampledRequest extends Omit<DenialSample, "what" | "response" | "key"> {
  readonly key?: string;
  readonly request: RequestSpec;
}
