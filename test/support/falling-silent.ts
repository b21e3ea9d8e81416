import { rawServer } from "./raw-server.ts";

const REPLY = JSON.stringify({
  ...{ id: "x", object: "chat.completion", created: 1, model: "plain" },
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** A gateway that serves this many chat requests. Later ones get no response, so that they are in flight when a run is interrupted. */
export async function fallingSilentAfter(served: number) {
  const server = await rawServer((socket, _request, count) => {
    if (count <= served)
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${REPLY.length}\r\n\r\n${REPLY}`,
      );
  });
  return {
    ...server,
    /** Resolves when this many requests are in flight that will get no response. */
    async untilUnserved(count: number): Promise<void> {
      while (server.requests.length < served + count) await new Promise((done) => setTimeout(done, 20));
    },
  };
}
