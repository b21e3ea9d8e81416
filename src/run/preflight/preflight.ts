import type { RequestSpec, Response, Traffic } from "../../checks/index.ts";
import { ConfigError, groupBy, isObject, member, UnreachableError, unreachableError } from "../../core/index.ts";
import { type Dialect, likeliestFirst, listEntries } from "../../dialects/index.ts";
import { addressesOf, type Target } from "../../target/index.ts";
import { type Advice, adviceSentences, listAdvice, modelAdvice, suggestedModel } from "./advice.ts";
import { describeResponse } from "./gateway-message.ts";
import { assertKeyAccepted, rejectedKeyAdvice } from "./wrong-key.ts";

/**
 * Makes sure that a gateway responds before anything is judged, and finds the plain model when the target does not name one:
 * taken verbatim from the list (CLIENT-1).
 *
 * @param advise receives suspected mistakes in the target file: the run continues, because the gateway may be wrong instead.
 * @throws UnreachableError when no HTTP response arrives, or only a proxy's response that its backend is down.
 * @throws ConfigError if the target is not a gateway, rejects the key, or does not have a model that the target file names.
 */
export async function prepare(traffic: Traffic, advise?: (advice: Advice) => void): Promise<Traffic> {
  const { target } = traffic;
  const list = await listModels(traffic);
  await assertIsGateway(traffic, list);
  await assertOthersRespond(traffic);
  await assertKeyAccepted(traffic);
  await assertModelsExist(traffic, target, listedModels(list));
  const dropped = await traffic.fixtures.dropRejectedKeys();
  if (advise !== undefined) {
    for (const [name, rejection] of dropped) advise(rejectedKeyAdvice(name, rejection));
    for (const advice of [listAdvice(target, list) ?? [], modelAdvice(target, listedModels(list))].flat())
      advise(advice);
  }
  return traffic;
}

/**
 * Makes sure that the target is a gateway at all: a verdict about a web server or a wrong path is meaningless. One of three
 * responses that only a gateway gives is enough, however wrong the others are.
 */
export async function assertIsGateway(traffic: Traffic, list: Response): Promise<void> {
  if (isOfGateway(list)) return;
  const { target } = traffic;
  const seen = [list];
  for (const endpoint of target.dialects) {
    const isNamed = target.models[endpoint].plain !== undefined;
    const request: RequestSpec = {
      address: target.baseUrl,
      intent: "any",
      repeats: false,
      maxTokens: 8,
      ...(!isNamed && { model: { id: "gauntlet" } }),
    };
    const response = await traffic.send(request, { endpoint, mode: "non-streaming" });
    // Clients of the messages dialect append the version to a bare host: such a response says nothing about this base URL.
    const isBelow = response.exchange.request.url.startsWith(`${target.baseUrl.replace(/\/$/, "")}/${PATHS[endpoint]}`);
    if (!isBelow) continue;
    if (isOfGateway(response)) return;
    seen.push(response);
  }
  if (list.status === undefined) throw unreachable(target.baseUrl, list);
  const advice = listAdvice(target, list);
  // Parts come from the target: control characters are replaced.
  const clean = (text: string) => text.replace(/\p{Cc}+/gu, " ");
  const hint = clean(advice === undefined ? "Check baseUrl." : adviceSentences(advice));
  const what = clean(shownTogether(seen));
  const isDown = seen.every(({ status = 0 }) => status === 502 || status === 503 || status === 504);
  if (isDown) throw new UnreachableError(`${target.baseUrl} is not up: ${what}`, { hint });
  const message = `${target.baseUrl} does not look like a model gateway. Expected a model list, a reply, or an error about the model. Instead, ${what}${/[.!?]"$/.test(what) ? "" : "."}`;
  throw new ConfigError([{ file: target.source, path: "baseUrl", message, hint }]);
}

/**
 * Makes sure that the further addresses of the target respond like a gateway, too.
 *
 * @throws UnreachableError when no HTTP response arrives from one of them.
 * @throws ConfigError if one is not a gateway.
 */
async function assertOthersRespond(traffic: Traffic): Promise<void> {
  for (const [index, address] of addressesOf(traffic.target).entries()) {
    if (index === 0) continue;
    const list = await requestModelList(traffic, address);
    if (list.status === undefined && !isMalformed(list)) throw unreachable(address, list);
    if (isOfGateway(list)) continue;
    const message = `${address} does not look like a model gateway: ${shownTogether([list]).replace(/\p{Cc}+/gu, " ")}`;
    throw new ConfigError([
      { file: traffic.target.source, path: `addresses.${index}`, message, hint: "Check this address." },
    ]);
  }
}

/**
 * Makes sure that the plain models of the target file exist, so that a misspelt id does not fail the checks.
 *
 * @throws ConfigError if the gateway neither lists nor serves one of them, although it serves one that it lists.
 */
async function assertModelsExist(
  traffic: Traffic,
  { dialects, models, source }: Target,
  listed: readonly string[],
): Promise<void> {
  // The models of the embedded gateway exist: if it refuses one, that is a defect.
  if (source === "embedded") return;
  for (const dialect of dialects) {
    const { plain } = models[dialect];
    if (plain === undefined) continue;
    await assertModelExists(traffic, { id: plain, dialect, file: source, path: `models.${dialect}` }, listed);
  }
}

/** A model as a file names it. */
export interface NamedModel {
  readonly id: string;
  readonly dialect: Dialect;
  readonly file: string;
  /** Path inside the file. */
  readonly path: string;
}

/** @throws ConfigError if the gateway neither lists nor serves the model, although it serves one that it lists. */
export async function assertModelExists(
  traffic: Traffic,
  { id, dialect, file, path }: NamedModel,
  listed: readonly string[],
): Promise<void> {
  if (listed.length === 0 || listed.includes(id)) return;
  const refusal = await traffic.fixtures.refusalOfUnlisted(id, dialect);
  if (refusal === undefined) return;
  const message = `the gateway neither lists nor serves "${id}" (${refusal.replace(/\p{Cc}+/gu, " ")}).`;
  throw new ConfigError([{ file, path, message, hint: suggestedModel(id, listed) }]);
}

const PATHS = { models: "models", chat: "chat/completions", messages: "messages" } as const;

/** A response in a few words, with its body type if that is the most informative part. */
function shown(response: Response): string {
  const type = response.header("content-type")?.split(";")[0]?.trim();
  return response.json === undefined && type !== undefined
    ? `${response.summary}, ${type.slice(0, 60)}`
    : describeResponse(response);
}

const LIST = new Intl.ListFormat("en-GB");

/** `/models and /messages respond with 404`: each response once, with the paths that gave it. */
function shownTogether(responses: readonly Response[]): string {
  return [...groupBy(responses, shown)]
    .map(([what, some]) => {
      const paths = some.map(({ requested }) => `/${PATHS[requested.endpoint]}`);
      return `${LIST.format(paths)} ${paths.length === 1 ? "responds" : "respond"} with ${what}`;
    })
    .join("; ");
}

/** Whether only a gateway responds like this: a list, a reply, or a machine-readable error. */
function isOfGateway(response: Response): boolean {
  const { status = 0, json } = response;
  if (response.admitted) return Array.isArray(member(json, "data")) || response.reply.parts !== undefined;
  const { reason } = response;
  // Frameworks also send JSON errors for unknown paths and methods; only an unknown model counts here.
  if (status === 404 || status === 405)
    return /\bmodel\b|model_/i.test(`${reason} ${JSON.stringify(member(json, "error"))}`);
  return (
    reason !== undefined ||
    member(json, "error") !== undefined ||
    (status < 500 && member(json, "message") !== undefined) ||
    (isObject(json) && (status === 401 || status === 403))
  );
}

/** Requests the model list. @param address default: the base URL. */
export function requestModelList(traffic: Traffic, address = traffic.target.baseUrl): Promise<Response> {
  return traffic.send({ endpoint: "models", address }, { endpoint: "models", mode: "non-streaming" });
}

/**
 * Requests the model list, and names the models that the target file leaves open.
 *
 * @throws UnreachableError if nothing arrives. The caller judges malformed responses.
 */
export async function listModels(traffic: Traffic): Promise<Response> {
  const list = await requestModelList(traffic);
  if (list.status === undefined && !isMalformed(list)) throw unreachable(traffic.target.baseUrl, list);
  await traffic.fillModels(modelsToTry(list));
  return list;
}

/** Whether the response is not valid HTTP/1.1. Other responses of the gateway may be well-formed, and are judged. */
function isMalformed({ exchange }: Response): boolean {
  return exchange.ending.kind === "protocol-error";
}

/** Maximum number of ids read from a list. */
const MAX_MODELS = 100_000;
const MAX_ID_CHARACTERS = 256;

/** An id that can be requested: every request repeats it, so an id of megabytes would be sent a thousand times. */
export function isModelId(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id.length <= MAX_ID_CHARACTERS && !/\p{Cc}/u.test(id);
}

/** Ids of a model list; empty when the response is not one. */
export function listedModels(list: Response): string[] {
  return idsOf(listEntries(list.json));
}

/** The same, those most likely to serve chat first. */
export function modelsToTry(list: Response): string[] {
  return idsOf(likeliestFirst(listEntries(list.json).slice(0, MAX_MODELS)));
}

function idsOf(entries: readonly unknown[]): string[] {
  const ids = entries.map((entry) => member(entry, "id"));
  return ids.filter(isModelId).slice(0, MAX_MODELS);
}

export function unreachable(baseUrl: string, { exchange }: Response): UnreachableError {
  const { kind, detail } = exchange.ending;
  return unreachableError(baseUrl, `${kind}: ${detail ?? ""}`);
}
