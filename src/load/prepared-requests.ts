import { type Random, seededRandom, UsageError } from "../core/index.ts";
import { type Dialect, endpointUrl, requestBody } from "../dialects/index.ts";
import type { Key, Target } from "../target/index.ts";
import type { PreparedRequest } from "./http/load-exchange.ts";
import type { TraceEntry } from "./schedule.ts";
import type { RequestClass } from "./workload.ts";

const USER_AGENT = "gateway-gauntlet";

/** What of a target a request is made of. */
export type LoadTarget = Pick<
  Target,
  "baseUrl" | "headers" | "extraHeaders" | "contract" | "models" | "timeouts" | "http" | "circuit"
>;
/** A key as it is put on the wire. */
export type WireKey = Pick<Key, "name" | "reveal">;

export interface LoadRequestSpec {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly model: string;
  readonly prompt: string;
  readonly maxTokens?: number | undefined;
  readonly key: WireKey;
  readonly capture?: boolean;
  readonly nonce?: string | undefined;
  /** Puts the body into JSON; default without white space. */
  readonly write?: ((body: object) => string) | undefined;
}

/** A request before it is put into bytes. Its headers hold the key. */
export interface PlainRequest {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The fields and headers that the conformance half sends. */
export function plainRequest(target: LoadTarget, spec: LoadRequestSpec): PlainRequest {
  const { dialect, stream, model, prompt, maxTokens, key, write = JSON.stringify } = spec;
  const body = write(requestBody(dialect, { model, prompt, ...(stream ? { stream } : {}), maxTokens }));
  const headers: readonly (readonly [string, string])[] = [
    ["Authorization", `Bearer ${key.reveal()}`],
    ["Content-Type", "application/json"],
    ...(dialect === "messages" ? [[target.headers.version, target.headers.versionValue] as const] : []),
    ["User-Agent", USER_AGENT],
    ...target.extraHeaders.all,
    ...target.extraHeaders[dialect],
  ];
  return { url: endpointUrl(target.baseUrl, dialect), headers, body };
}

/** Puts a request into one piece of bytes. */
export function prepareRequest(target: LoadTarget, spec: LoadRequestSpec): PreparedRequest {
  const { dialect, stream, key } = spec;
  const { url: address, headers, body } = plainRequest(target, spec);
  const url = new URL(address);
  const head = [["Host", url.host] as const, ...headers, ["Content-Length", String(Buffer.byteLength(body))] as const]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const bytes = Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n${body}`, "utf8");
  return {
    dialect,
    stream,
    bytes,
    key: key.name,
    capture: spec.capture ?? false,
    nonce: spec.nonce,
    body: spec.capture === true ? body : undefined,
  };
}

/**
 * The target's own model for a request.
 *
 * @throws UsageError where the target has none in the dialect: load with an invented one would measure denials.
 */
export function modelFor(target: Pick<LoadTarget, "models">, dialect: Dialect, stream: boolean): string {
  const models = target.models[dialect];
  const id = (stream ? models.stream : undefined) ?? models.plain;
  if (id !== undefined) return id;
  throw new UsageError(`no model of the ${dialect} dialect is known`, {
    hint: `Name one in the target file:\nmodels:\n  ${dialect}: <model id>`,
  });
}

/** Words without meaning; a prompt of so many is about as many tokens. */
const WORDS = ["load", "test", "one", "two", "small", "words", "again", "count", "these", "please"];

export function promptOf(words: number): string {
  return Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]).join(" ");
}

/** Draws the next request of a workload. Indexes may be left out, and never come back. */
export type NextRequest = (index: number) => PreparedRequest;

/** Every n-th request of a plain workload is kept and judged. */
export interface MixOptions {
  readonly target: LoadTarget;
  /** Keys that take turns. */
  readonly keys: readonly WireKey[];
  readonly mix: readonly RequestClass[];
  readonly seed: number;
  /** One request in so many is captured; 0 for none. */
  readonly sampleEvery: number;
}

/** Draws requests by weight, with a seed; each distinct request is built once. */
export function mixedRequests({ target, keys, mix, seed, sampleEvery }: MixOptions): NextRequest {
  const random = seededRandom(seed);
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  const built = new Map<string, PreparedRequest>();
  let drawn = 0;
  return (index) => {
    // What another worker sends is drawn as well: all of them together send what one would have sent.
    for (; drawn < index; drawn++) draw(mix, total, random);
    drawn++;
    const chosen = draw(mix, total, random);
    const key = keys[index % keys.length] as WireKey;
    const capture = sampleEvery > 0 && index % sampleEvery === 0;
    const name = `${mix.indexOf(chosen)} ${key.name} ${capture}`;
    const known = built.get(name);
    if (known !== undefined) return known;
    const { dialect, stream, maxTokens, promptTokens } = chosen;
    const model = chosen.model ?? modelFor(target, dialect, stream);
    const prepared = prepareRequest(target, {
      dialect,
      stream,
      model,
      prompt: promptOf(promptTokens),
      maxTokens,
      key,
      capture,
    });
    built.set(name, prepared);
    return prepared;
  };
}

/** Draws a class by its weight. */
export function draw(mix: readonly RequestClass[], total: number, random: Random): RequestClass {
  if (mix.length === 1) return mix[0] as RequestClass;
  let at = random() * total;
  for (const entry of mix) {
    at -= entry.weight;
    if (at < 0) return entry;
  }
  return mix.at(-1) as RequestClass;
}

/** Requests of a trace, in its order. */
export function tracedRequests(
  target: LoadTarget,
  keys: readonly WireKey[],
  entries: readonly TraceEntry[],
): NextRequest {
  return (index) => {
    const { dialect, stream, promptTokens, maxTokens } = entries[index % entries.length] as TraceEntry;
    const key = keys[index % keys.length] as WireKey;
    const model = modelFor(target, dialect, stream);
    return prepareRequest(target, { dialect, stream, model, prompt: promptOf(promptTokens), maxTokens, key });
  };
}
