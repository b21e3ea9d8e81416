import { type Check, defineCheck } from "../../src/checks/index.ts";
import { that } from "../../src/judging/index.ts";
import { assumeReachedProviders, type MarkedExchange, sendMarked } from "./marked.ts";

/** Sequential requests: more than a gateway has processes with their own connections. */
const REQUESTS = 24;

const keepAlive = defineCheck({
  id: "upstream.keep-alive",
  title: "Connections to providers are reused",
  covers: ["UPSTREAM-KEEP-ALIVE"],
  explains:
    "Sends 24 requests in sequence. Some should reach the provider on an existing connection. A new connection for each costs a handshake, and with TLS two more round trips, before the first token.",
  needs: ["upstream"],
  cost: { requests: REQUESTS },
  async run(t) {
    const passed: MarkedExchange[] = [];
    for (let index = 0; index < REQUESTS; index++) passed.push(await sendMarked(t, { mode: "non-streaming" }));
    const connections = passed.flatMap(({ upstream }) => upstream.requests.map(({ connection }) => connection));
    return { plain: passed[0] as MarkedExchange, connections };
  },
  judge({ plain, connections }, verdict) {
    assumeReachedProviders(verdict, plain);
    if (connections.length < REQUESTS / 2)
      verdict.inconclusive(`${connections.length} requests reached these providers`);
    const fewer = that(`fewer than ${connections.length}`, (count) => Number(count) < connections.length);
    verdict.should("UPSTREAM-KEEP-ALIVE", new Set(connections).size, fewer, {
      in: plain.response,
      because: `connections for ${connections.length} requests`,
    });
  },
});

export const CONNECTIONS: readonly Check[] = [keepAlive];
