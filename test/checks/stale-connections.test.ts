import { expect, test } from "vitest";

import { isStale, Traffic } from "../../src/checks/index.ts";
import { ampleBudget, httpServer, targetOf } from "../support/judge.ts";

const CHAT = { endpoint: "chat", mode: "non-streaming" } as const;
const REPLY = JSON.stringify({ id: "c", choices: [{ index: 0, message: { role: "assistant", content: "hi" } }] });

/** Responds to the first request of each connection, resets it if `isReset` says so, and sends a long reply to other requests. */
async function serverThatResets(isReset: (nth: number) => boolean) {
  const carried = new Map<unknown, number>();
  return httpServer(({ socket }, body, response) => {
    const nth = (carried.get(socket) ?? 0) + 1;
    carried.set(socket, nth);
    if (isReset(nth)) {
      socket.resetAndDestroy();
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    if (body.includes("hold")) response.write(" ");
    else response.end(REPLY);
  });
}

test("a request that met a closed connection is sent again on a new one", async () => {
  await using server = await serverThatResets((nth) => nth === 2);
  const { signal } = new AbortController();
  await using traffic = new Traffic({ target: targetOf(server.baseUrl), budget: ampleBudget(), seed: 1, signal });
  await traffic.start({}, CHAT).done;
  const held = traffic.start({ intent: "any" }, CHAT);
  expect([await held.headed, await held.started, (await held.done).status]).toEqual([200, true, 200]);
  expect(traffic.responses.map(({ exchange }) => [isStale(exchange), exchange.connection.earlier])).toEqual([
    [false, 0],
    [true, 1],
    [false, 0],
  ]);
  const [, stale, again] = traffic.responses;
  expect(again?.requested.repeats).toBe(stale?.id);
});

test("a request that is sent again can be aborted", async () => {
  await using server = await serverThatResets((nth) => nth === 2);
  const { signal } = new AbortController();
  await using traffic = new Traffic({ target: targetOf(server.baseUrl), budget: ampleBudget(), seed: 1, signal });
  await traffic.start({}, CHAT).done;
  const held = traffic.start({ prompt: "hold" }, CHAT);
  expect(await held.started).toBe(true);
  held.abort();
  const { exchange } = await held.done;
  expect([exchange.ending.kind, exchange.connection.earlier]).toEqual(["aborted", 0]);
});

test("a reset of a new connection counts as the gateway's response", async () => {
  await using server = await serverThatResets(() => true);
  const { signal } = new AbortController();
  await using traffic = new Traffic({ target: targetOf(server.baseUrl), budget: ampleBudget(), seed: 1, signal });
  const response = await traffic.start({}, CHAT).done;
  expect([response.exchange.ending.kind, traffic.responses.length]).toEqual(["reset", 1]);
});

test("if nothing more may be sent, waiting requests are rejected", async () => {
  await using server = await serverThatResets((nth) => nth === 2);
  const controller = new AbortController();
  const { signal } = controller;
  await using traffic = new Traffic({
    target: targetOf(server.baseUrl),
    budget: ampleBudget(),
    seed: 1,
    signal,
    onResponse: ({ exchange }) => {
      if (isStale(exchange)) controller.abort(new Error("enough"));
    },
  });
  await traffic.start({}, CHAT).done;
  const held = traffic.start({}, CHAT);
  await expect(held.done).rejects.toThrow("enough");
});
