/** The two request formats of the interface. */
export const DIALECTS = ["chat", "messages"] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Non-streaming: one document. Streaming: the reply as it is produced. */
export const MODES = ["non-streaming", "streaming"] as const;
export type Mode = (typeof MODES)[number];

/** Names of the endpoints of the interface. */
export type Endpoint = Dialect | "models";

const PATHS: Readonly<Record<Endpoint, string>> = {
  chat: "/chat/completions",
  messages: "/messages",
  models: "/models",
};

/**
 * The address of an endpoint.
 *
 * @param baseUrl base address with its version segment; a trailing slash is tolerated, `/v1` is neither doubled nor lost
 * (CHAT-8). A bare host gets `/v1` for `messages`, as clients of that dialect add it themselves (MSG-12).
 */
export function endpointUrl(baseUrl: string, endpoint: Endpoint): string {
  const url = new URL(baseUrl);
  const prefix = url.pathname.replace(/\/+$/, "");
  url.pathname = (prefix === "" && endpoint === "messages" ? "/v1" : prefix) + PATHS[endpoint];
  return url.href;
}

export interface Turn {
  readonly role: string;
  readonly content: string;
}

/** A plain request for a reply, independent of the dialect. */
export interface ReplyRequest {
  readonly model: string;
  /** The conversation; a string is one user turn. */
  readonly prompt: string | readonly Turn[];
  readonly stream?: boolean | undefined;
  /** Mandatory on `messages`; sent on `chat` only if given, because the specification shows no optional parameter there. */
  readonly maxTokens?: number | undefined;
  /** Top-level system prompt of the messages dialect. */
  readonly system?: string | undefined;
}

/** Default output limit; high enough not to truncate any reply. */
export const AMPLE_TOKENS = 1_024;

/** Builds the request body for a dialect: the fields of sections 2.2 and 2.4 and no others. */
export function requestBody(dialect: Dialect, request: ReplyRequest): Record<string, unknown> {
  const { model, prompt, stream, maxTokens, system } = request;
  const messages = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
  const streamed = stream === undefined ? {} : { stream };
  if (dialect === "chat") {
    return { model, messages, ...streamed, ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }) };
  }
  return {
    model,
    max_tokens: maxTokens ?? AMPLE_TOKENS,
    messages,
    ...streamed,
    ...(system === undefined ? {} : { system }),
  };
}
