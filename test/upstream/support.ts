import { connect } from "node:net";
import { scenarioSchema, startUpstream, type UpstreamRequest } from "../../src/upstream/index.ts";

/** Starts the providers of a scenario, with helpers for tests. */
export async function upstreamOf(scenario: unknown = {}) {
  const running = await startUpstream({
    host: "127.0.0.1",
    port: 0,
    controlPort: 0,
    scenario: scenarioSchema.parse(scenario),
  });
  const { providers, controlUrl, controlToken } = running.ready;
  const base = Object.values(providers)[0] ?? "";
  const control = (path: string, init: RequestInit = {}) =>
    fetch(`${controlUrl}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${controlToken}`,
        ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
  const requests = async () => {
    const { requests: all } = (await (await control("/requests")).json()) as { requests: UpstreamRequest[] };
    return all;
  };
  return {
    base,
    providers,
    controlUrl,
    control,
    requests,
    /** Waits until a request has ended, and returns it. */
    async ended(id = 1): Promise<UpstreamRequest> {
      for (;;) {
        const one = (await requests()).find((request) => request.id === id);
        if (one?.end !== undefined) return one;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    post: (path: string, body: unknown, init: RequestInit = {}) =>
      fetch(`${base}/${path}`, { method: "POST", body: JSON.stringify(body), ...init }),
    /**
     * Sends raw bytes on a separate connection, in parts, and returns what arrived until it was closed or `until` was received.
     */
    raw: (parts: readonly (string | Buffer)[], until: (text: string) => boolean) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(new URL(base).port), "127.0.0.1");
        let text = "";
        const end = () => {
          socket.destroy();
          resolve(text);
        };
        socket.on("data", (bytes: Buffer) => {
          text += bytes.toString("latin1");
          if (until(text)) end();
        });
        socket.on("end", end).on("error", reject);
        socket.on("connect", async () => {
          for (const part of parts) {
            socket.write(part);
            await new Promise((done) => setImmediate(done));
          }
        });
      }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

export const chat = (model: string, fields: object = {}) => ({
  model,
  messages: [{ role: "user", content: "hello" }],
  ...fields,
});

/** The data of the events of a stream. */
export const dataOf = (text: string): string[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data);
