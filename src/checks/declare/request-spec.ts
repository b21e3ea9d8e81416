import { InternalError, nearestOf } from "../../core/index.ts";
import {
  type Dialect,
  type Endpoint,
  endpointUrl,
  type HeaderList,
  type Mode,
  requestBody,
  type Turn,
} from "../../dialects/index.ts";
import type { Bounds, OutgoingRequest } from "../../http/recorder/index.ts";
import type { Key, KeyName, ModelRole, Target } from "../../target/index.ts";
import { type BodyForm, CHUNKS, fillBody, writeBody } from "../response/body-form.ts";
import { MissingFixture } from "./need.ts";

/** A request as a probe describes it: a valid one with exactly these changes. */
export interface RequestSpec {
  /** Default: the dialect of the instance. */
  readonly endpoint?: Endpoint;
  readonly mode?: Mode;
  /** Which key; `null` sends no credential. Default `valid`. */
  readonly key?: KeyName | Key | null;
  /** The whole `Authorization` value, instead of `Bearer` and a key. */
  readonly authorization?: string;
  /** A role of the target's models, or `{ id }` for a model by its id. Default: the plain model of the dialect. */
  readonly model?: ModelRole | { readonly id: string };
  /** Default: a short text with a nonce. */
  readonly prompt?: string | readonly Turn[];
  /** Bytes of plain text that replace `FILLER` in the prompt; for requests whose only purpose is to be large. */
  readonly fillBytes?: number;
  readonly maxTokens?: number;
  readonly system?: string;
  /** Explicit value of `stream`, if it differs from the mode. */
  readonly stream?: boolean;
  /** Fields set or replaced in the body. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Fields omitted from the body. */
  readonly omit?: readonly string[];
  /** How the document is written and framed; default: without spaces, with its length. */
  readonly form?: BodyForm;
  /** The body itself, instead of a JSON document. */
  readonly rawBody?: string | Uint8Array;
  readonly method?: string;
  /** Path below the base address, instead of the endpoint's. */
  readonly path?: string;
  /** Added to the path. */
  readonly query?: string;
  /** Headers to add, or to replace if the name exists. */
  readonly headers?: HeaderList;
  /** Headers to omit, by name. */
  readonly without?: readonly string[];
  readonly freshConnection?: boolean;
  /** One of the target's addresses. Default: the next of them. */
  readonly address?: string;
  /** What the check expects of the request; cross-cutting checks judge only valid ones. Default `valid`. */
  readonly intent?: "valid" | "any" | "invalid" | "denied";
  /** `false`: a 429 is the expected response, so nothing is waited out or repeated. */
  readonly repeats?: boolean;
  /** Whether the provider fails on purpose; default: depends on the model's role. */
  readonly upstreamFails?: boolean;
  readonly bounds?: Partial<Bounds>;
  /** Sent to find out whether the gateway responds at all. */
  readonly probe?: true;
  /** Id of a response that refused a model which had been served: sent to find out whether it is served again. */
  readonly recoveryOf?: string;
}

const OPTIONS: Readonly<Record<keyof RequestSpec, true>> = {
  ...{ endpoint: true, mode: true, key: true, authorization: true, model: true, prompt: true, fillBytes: true },
  ...{ maxTokens: true, system: true, stream: true, fields: true, omit: true, form: true, rawBody: true, method: true },
  ...{ path: true, query: true, headers: true, without: true, freshConnection: true, address: true, intent: true },
  ...{ repeats: true, upstreamFails: true, bounds: true, probe: true, recoveryOf: true },
};

/**
 * Suites are not type-checked when they are loaded: an option that is misspelt would be ignored, and its check would pass without
 * testing anything.
 *
 * @throws TypeError that names the option.
 */
export function assertKnownOptions(request: RequestSpec): void {
  const unknown = Object.keys(request).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown === undefined) return;
  const nearest = nearestOf(unknown, Object.keys(OPTIONS));
  throw new TypeError(
    `unknown request option "${unknown}"${nearest === undefined ? "" : `. Did you mean "${nearest}"?`}`,
  );
}

export interface BuiltRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: OutgoingRequest["body"];
  readonly pieces?: number;
  readonly keyName: string | undefined;
}

const USER_AGENT = "gateway-gauntlet";

/** Builds a request for the wire: address, headers in order, body. */
export function buildRequest(
  target: Target,
  request: RequestSpec,
  endpoint: Endpoint,
  prompt: string | readonly Turn[],
): BuiltRequest {
  const { address = target.baseUrl } = request;
  const url = new URL(
    request.path === undefined ? endpointUrl(address, endpoint) : address.replace(/\/+$/, "") + request.path,
  );
  if (request.query !== undefined) url.search = request.query;
  const method = request.method ?? (endpoint === "models" ? "GET" : "POST");
  const body = bodyOf(target, request, endpoint, prompt);
  const key = keyOf(target, request.key);
  const authorization = request.authorization ?? (key ? `Bearer ${key.reveal()}` : undefined);
  const headers: (readonly [string, string])[] = [
    ...(authorization === undefined ? [] : [["Authorization", authorization] as const]),
    ...(body === undefined ? [] : [["Content-Type", "application/json"] as const]),
    ...(endpoint === "messages" ? [[target.headers.version, target.headers.versionValue] as const] : []),
    ["User-Agent", USER_AGENT],
    ...extraHeaders(target, endpoint),
  ];
  const replaced = new Set(
    [...(request.headers ?? []).map(([name]) => name), ...(request.without ?? [])].map((name) => name.toLowerCase()),
  );
  return {
    method,
    url: url.href,
    headers: [...headers.filter(([name]) => !replaced.has(name.toLowerCase())), ...(request.headers ?? [])],
    body,
    ...(request.form === "in-chunks" ? { pieces: CHUNKS } : {}),
    // A header built by the probe is not one of our keys, even if it resembles one.
    keyName: request.authorization === undefined ? key?.name : undefined,
  };
}

/** Fixed headers of the target; those of an endpoint override those of all endpoints. */
function extraHeaders({ extraHeaders: { all, ...own } }: Target, endpoint: Endpoint): HeaderList {
  const names = new Set(own[endpoint].map(([name]) => name.toLowerCase()));
  return [...all.filter(([name]) => !names.has(name.toLowerCase())), ...own[endpoint]];
}

function keyOf(target: Target, key: RequestSpec["key"]): Key | null {
  if (key === undefined) return target.keys.valid;
  if (typeof key !== "string") return key;
  const known = target.keys[key];
  // Otherwise the request would be sent without a credential, and the check would judge a different requirement.
  if (known === undefined) throw new InternalError(`a probe uses the key "${key}" without declaring that it needs it`);
  return known;
}

function bodyOf(
  target: Target,
  request: RequestSpec,
  endpoint: Endpoint,
  prompt: string | readonly Turn[],
): OutgoingRequest["body"] {
  if (request.rawBody !== undefined) return request.rawBody;
  if (endpoint === "models" || request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")
    return undefined;
  const stream = request.stream ?? (request.mode === "streaming" ? true : undefined);
  const { maxTokens, system } = request;
  const body = requestBody(endpoint, {
    model: modelOf(target, request.model ?? "plain", endpoint),
    prompt,
    stream,
    maxTokens,
    system,
  });
  const entries = Object.entries({ ...body, ...request.fields }).filter(
    ([name]) => request.omit?.includes(name) !== true,
  );
  const text = writeBody(entries, request.form);
  return request.fillBytes === undefined ? text : fillBody(text, request.fillBytes);
}

/** Id of the model of an inference request; `undefined` if the request names none, or its body is not built from a model. */
export function modelIdOf(target: Target, { model = "plain", rawBody }: RequestSpec, endpoint: Endpoint) {
  if (endpoint === "models" || rawBody !== undefined) return undefined;
  return typeof model === "object" ? model.id : target.models[endpoint][model];
}

/**
 * Model id of a role in a dialect. Required roles are checked before a probe runs; the plain models are found at the start.
 *
 * @throws MissingFixture if the target names no such model and none was found: any id would be a guess.
 */
export function modelOf(target: Target, model: ModelRole | { readonly id: string }, dialect: Dialect): string {
  if (typeof model === "object") return model.id;
  const id = target.models[dialect][model];
  if (id === undefined) throw new MissingFixture(`model.${model}`, dialect);
  return id;
}
