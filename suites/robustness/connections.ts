import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { headerValues } from "../../src/dialects/index.ts";
import { atMost, that } from "../../src/judging/index.ts";
import { addressAt } from "../../src/target/index.ts";

/** Sequential requests on a connection, and whether the gateway kept it open. */
const keepAlive = defineCheck({
  id: "robustness.keep-alive",
  title: "A connection stays usable after a response that does not announce a close",
  covers: ["HTTP-KEEP-ALIVE"],
  explains:
    "Sends requests in sequence after successes, streams, denials and rejections. HTTP/1.1 keeps a connection open unless `Connection: close` says otherwise; closing it without notice costs clients a handshake each time, and sometimes a failed request.",
  across: { case: ["success", "stream", "denial", "refusal"] },
  cost: { requests: 12 },
  schedule: { order: "exclusive" },
  async run(t) {
    const specs: Readonly<Record<string, RequestSpec>> = {
      success: {},
      stream: { mode: "streaming" },
      denial: { model: "unknown", intent: "denied" },
      refusal: { rawBody: '{"model":', intent: "invalid" },
    };
    const pairs: { first: Response; second: Response }[] = [];
    for (let round = 0; round < 6; round++) {
      // A connection belongs to one address.
      const address = addressAt(t.target, round);
      const first = await t.send({ ...specs[t.case], address });
      pairs.push({ first, second: await t.send({ endpoint: "models", address }) });
    }
    return { pairs };
  },
  judge({ pairs }, verdict) {
    const announced = ({ headers, exchange }: Response) =>
      headerValues(headers, "connection").some((value) => /\bclose\b/i.test(value)) ||
      exchange.ending.kind !== "complete" ||
      isDelimitedByClose(exchange.response);
    const silent = pairs.filter(({ first }) => !announced(first));
    if (silent.length < 3) return verdict.notApplicable("the gateway announces that it closes its connections");
    // Nothing else is in flight: the next request reuses the connection of the previous one, if it is still open. A request whose
    // connection was closed under it was repeated on a new one.
    const lost = silent.filter(
      ({ first, second }) =>
        second.exchange.connection.id !== first.exchange.connection.id || first.requested.repeats !== undefined,
    );
    const most = that("fewer than half of them", (count) => (count as number) < silent.length / 2);
    verdict.should("HTTP-KEEP-ALIVE", lost.length, most, {
      in: lost[0]?.first,
      because: `connections (of ${silent.length}) that were closed without notice after the response`,
    });
  },
});

/** Requests on one connection, and the pause after each: long enough for a close to arrive. */
const REQUESTS = 84;

const PAUSE_MS = 30;

/** Fewer requests to a slow gateway, ms in total. */
const MAX_MS = 20_000;

/** After a longer pause the connection may have met the gateway's idle timeout at the moment of the next request. */
const MAX_REST_MS = 900;

const longLivedConnection = defineCheck({
  id: "robustness.long-lived-connection",
  title: "A connection in constant use is not closed during a request",
  covers: ["STEADY-SERVICE"],
  explains:
    "Sends eighty requests in sequence on one connection with short pauses. A gateway may close a connection between two requests at any time; closing it after a request was sent, without an idle period that a timeout could explain, fails the caller's request. One may be chance, two are a warning.",
  cost: { requests: REQUESTS },
  schedule: { order: "exclusive" },
  async run(t) {
    const responses: Response[] = [];
    const endUs = t.nowUs() + MAX_MS * 1_000;
    for (let count = 0; count < REQUESTS && t.nowUs() < endUs; count++) {
      responses.push(await t.send({ address: t.target.baseUrl }));
      await t.wait(PAUSE_MS);
    }
    return { responses };
  },
  judge({ responses }, verdict) {
    // A request on a closed connection was repeated once on a new one.
    const cut = responses.filter(({ requested, exchange }, at) => {
      const restMs = exchange.startedAtMs - (responses[at - 1]?.exchange.startedAtMs ?? 0);
      return requested.repeats !== undefined && exchange.connection.earlier === 0 && restMs < MAX_REST_MS;
    });
    verdict.should("STEADY-SERVICE", cut.length, atMost(1), {
      in: cut[0],
      because: `requests (of ${responses.length}) whose connection was cut after they were sent`,
    });
  },
});

/** A body without length and without chunks ends with its connection, so no further signal is needed. */
function isDelimitedByClose(response: Response["exchange"]["response"]): boolean {
  if (response === undefined) return true;
  const names = response.headers.map(([name]) => name.toLowerCase());
  return !names.includes("content-length") && !names.includes("transfer-encoding");
}

export const CONNECTIONS: readonly Check[] = [keepAlive, longLivedConnection];
