import { UsageError } from "../../core/index.ts";
import { type Dialect, endpointUrl, requestBody, type Turn } from "../../dialects/index.ts";
import type { PreparedRequest, TraceIds } from "../../http/load-client/index.ts";
import { addressAt, type Key, type Target } from "../../target/index.ts";
import { type DrawnRequest, drawRequest, type RequestSource } from "../schedule/draw-request.ts";
import { BLOCK_TOKENS, promptOf, promptOfBytes } from "../workload/prompt-text.ts";
import { type Content, contentOf, OFFERED_TOOLS } from "../workload/request-content.ts";
import { type SpanSampler, traceparent } from "./request-span.ts";

const USER_AGENT = "gateway-gauntlet";

/** The parts of a target that a request is built from. */
export type LoadTarget = Pick<
  Target,
  "baseUrl" | "addresses" | "headers" | "extraHeaders" | "contract" | "models" | "timeouts" | "http" | "circuit"
>;
/** A key as it is sent. */
export type WireKey = Pick<Key, "name" | "reveal">;

export interface LoadRequestSpec extends Omit<Content, "prompt"> {
  /** A single user turn, or a conversation. Images and tool calls require a single turn. */
  readonly prompt: string | readonly Turn[];
  /** For the messages dialect; in chat, it is a turn. */
  readonly system?: string | undefined;
  /** Sent in addition to the target's headers. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Number of the turn in its session, from 1. */
  readonly turn?: number;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly model: string;
  readonly maxTokens?: number | undefined;
  readonly key: WireKey;
  /** Chooses one of several addresses of the target; default 0. */
  readonly ordinal?: number | undefined;
  readonly capture?: boolean;
  /** Chat streams: request the token counts (`stream_options.include_usage`). */
  readonly includeUsage?: boolean | undefined;
  readonly nonce?: string | undefined;
  /** Sent as `traceparent`. */
  readonly trace?: TraceIds | undefined;
  /** Serialises the body as JSON; default: without white space. */
  readonly write?: ((body: object) => string) | undefined;
}

/** A request before serialisation. Its headers contain the key. */
export interface PlainRequest {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The body of a request, identical to what the conformance checks send. */
export function bodyOf(spec: Omit<LoadRequestSpec, "key">): Record<string, unknown> {
  const { dialect, stream, model, prompt, system, maxTokens, includeUsage } = spec;
  const plain = requestBody(dialect, { model, prompt, ...(stream ? { stream } : {}), maxTokens, system });
  const withUsage = dialect === "chat" && stream && includeUsage === true;
  const body = withUsage ? { ...plain, stream_options: { include_usage: true } } : plain;
  return typeof prompt === "string" ? { ...body, ...contentOf(dialect, { ...spec, prompt }) } : body;
}

/** The fields and headers, identical to what the conformance checks send. */
export function plainRequest(target: LoadTarget, spec: LoadRequestSpec): PlainRequest {
  const { dialect, key, trace, write = JSON.stringify } = spec;
  const body = write(bodyOf(spec));
  const headers: readonly (readonly [string, string])[] = [
    ["Authorization", `Bearer ${key.reveal()}`],
    ["Content-Type", "application/json"],
    ...(dialect === "messages" ? [[target.headers.version, target.headers.versionValue] as const] : []),
    ["User-Agent", USER_AGENT],
    ...target.extraHeaders.all,
    ...target.extraHeaders[dialect],
    ...(trace === undefined ? [] : [["traceparent", traceparent(trace)] as const]),
    ...(spec.headers ?? []),
  ];
  return { url: endpointUrl(addressAt(target, spec.ordinal ?? 0), dialect), headers, body };
}

/** Serialises a request into one buffer. */
export function prepareRequest(target: LoadTarget, spec: LoadRequestSpec): PreparedRequest {
  const { dialect, stream, key } = spec;
  const { url: address, headers, body } = plainRequest(target, spec);
  const url = new URL(address);
  const head = [["Host", url.host] as const, ...headers, ["Content-Length", String(Buffer.byteLength(body))] as const]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const bytes = Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n${body}`, "utf8");
  return {
    url: address,
    dialect,
    stream,
    bytes,
    key: key.name,
    capture: spec.capture ?? false,
    usageRequested: dialect === "chat" && stream && spec.includeUsage === true,
    tools: (spec.toolCalls ?? 0) > 0 ? OFFERED_TOOLS : undefined,
    turn: spec.turn,
    nonce: spec.nonce,
    trace: spec.trace && { ...spec.trace, model: spec.model },
  };
}

/**
 * The target's own model for a request.
 *
 * @throws UsageError if the target has none in the dialect: load with an invented model would measure denials.
 */
export function modelFor(target: Pick<LoadTarget, "models">, dialect: Dialect, stream: boolean): string {
  const models = target.models[dialect];
  const id = (stream ? models.stream : undefined) ?? models.plain;
  if (id !== undefined) return id;
  throw new UsageError(`no model of the ${dialect} dialect is known`, {
    hint: `Name one in the target file:\nmodels:\n  ${dialect}: <model id>`,
  });
}

/** Creates the request of an arrival; the result does not depend on the caller or the order of calls. */
export type NextRequest = (index: number) => PreparedRequest;

/** Every n-th request of a plain workload is kept and judged. */
export interface MixOptions extends RequestSource {
  readonly target: LoadTarget;
  /** Keys to rotate through. */
  readonly keys: readonly WireKey[];
  /** One in this many requests is captured; 0 for none. */
  readonly sampleEvery: number;
  /** Selects requests that are sent with a `traceparent`. */
  readonly spans?: SpanSampler | undefined;
}

/** Requests of a mix or of a trace; for a class of constant lengths, they are built once. */
export function mixedRequests({ target, keys, sampleEvery, spans, ...source }: MixOptions): NextRequest {
  const built = new Map<string, PreparedRequest>();
  return (index) => {
    const drawn = drawRequest(source, index);
    const key = keys[index % keys.length] as WireKey;
    const capture = sampleEvery > 0 && index % sampleEvery === 0;
    const trace = spans?.next();
    const make = () => prepareRequest(target, { ...specOf(target, drawn, index), ordinal: index, key, capture, trace });
    if (!drawn.constant || trace !== undefined) return make();
    const name = `${source.mix.indexOf(drawn.from)} ${key.name} ${capture} ${addressAt(target, index)}`;
    const known = built.get(name) ?? make();
    built.set(name, known);
    return known;
  };
}

/** Creates the text of a drawn request. Requests of different lengths share no text that a cache could reuse. */
export function specOf(
  target: Pick<LoadTarget, "models">,
  drawn: DrawnRequest,
  index: number,
): Omit<LoadRequestSpec, "key"> {
  const { dialect, stream, maxTokens, images, toolCalls, from } = drawn;
  const model = drawn.model ?? modelFor(target, dialect, stream);
  return {
    dialect,
    stream,
    model,
    prompt: textOf(drawn.prompt, drawn.constant ? undefined : index),
    maxTokens,
    images,
    toolCalls,
    includeUsage: from.includeUsage,
  };
}

/** @param id texts with different ids differ. */
export function textOf(prompt: DrawnRequest["prompt"], id: number | undefined): string {
  if ("bytes" in prompt) return promptOfBytes(prompt.bytes, id);
  const { tokens, hashIds, blockTokens = BLOCK_TOKENS } = prompt;
  const blocks = hashIds.map((hashId, at) => promptOf(Math.min(blockTokens, tokens - at * blockTokens), hashId));
  const rest = tokens - hashIds.length * blockTokens;
  return (rest > 0 ? [...blocks, promptOf(rest, id)] : blocks).join(" ");
}
