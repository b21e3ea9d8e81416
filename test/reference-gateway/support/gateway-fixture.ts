import {
  type Gateway,
  type GatewayOptions,
  type ReadyLine,
  startGateway,
} from "../../../src/reference-gateway/index.ts";
import { type Reply, sendTo, type TestRequest } from "./client.ts";

/** Providers that respond within milliseconds. */
export const QUICK = { pieces: 8, paceMs: 4, slowMs: 120, upstreamTimeoutMs: 40 } as const satisfies GatewayOptions;

export interface Fixture extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly ready: ReadyLine;
  /** With the valid key by default; `key: ""` sends none. */
  send(requested: TestRequest): Promise<Reply>;
  chat(body?: object, requested?: Partial<TestRequest>): Promise<Reply>;
  messages(body?: object, requested?: Partial<TestRequest>): Promise<Reply>;
  /** One request to the admin interface. @returns the parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with literals, member by member
  admin(method: string, path: string, body?: unknown): Promise<any>;
}

export const CHAT = { model: "echo-fast", messages: [{ role: "user", content: "Say hello" }] };
export const MESSAGES = { ...CHAT, max_tokens: 64 };

/** A test's own gateway, with fast providers. */
export async function startFixture(options: GatewayOptions = {}): Promise<Fixture> {
  const gateway = await startGateway({ ...QUICK, ...options });
  const { ready } = gateway;
  const send = (requested: TestRequest) => {
    const key = requested.key ?? ready.keys.valid;
    return sendTo(ready.baseUrl, { ...requested, key: key === "" ? undefined : key });
  };
  return {
    gateway,
    ready,
    send,
    chat: (body, requested) => send({ path: "/chat/completions", body: { ...CHAT, ...body }, ...requested }),
    messages: (body, requested) => send({ path: "/messages", body: { ...MESSAGES, ...body }, ...requested }),
    async admin(method, path, body) {
      const reply = await sendTo(ready.adminUrl, { method, path, key: ready.adminToken, body });
      if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.bytes.toString()}`);
      return reply.bytes.length === 0 ? undefined : JSON.parse(reply.bytes.toString());
    },
    [Symbol.asyncDispose]: () => gateway.destroy(),
  };
}
