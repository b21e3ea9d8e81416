import { type Answer, type Ask, atMost, type Check, defineCheck } from "../../src/conformance/index.ts";
import { type Arrival, arrivalOf, isFairlySeen, isOneBurst, LONG_ENOUGH_MS } from "../shared/arrival.ts";
import { inTurns, LONG_STORY, LONG_TEXT } from "../shared/texts.ts";
import { ONE_TOOL, toolsOf } from "../shared/tools.ts";

/** When one of two came in one piece, more tell whether that was an accident: so many that tell, of so many at most. */
const ENOUGH_RUNS = 6;
const MOST_RUNS = 12;
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 2_500;
/** Fewer than these that tell are no case. */
const FEWEST_RUNS = 3;

/** Parameters that a gateway may refuse, because the interface does not show them, and whose streams are streams. */
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "usage-asked-for": { stream_options: { include_usage: true } },
  "usual-parameters": { max_tokens: 1_024, temperature: 0.7 },
  "tools-offered": { tools: toolsOf("chat", ONE_TOOL) },
  "system-turn": {
    messages: [
      { role: "system", content: "You tell stories." },
      { role: "user", content: LONG_STORY },
    ],
  },
};

const LONG_CONVERSATION = inTurns(LONG_STORY, LONG_TEXT.slice(0, 3_000), "Noted.");

/** What SDKs say they accept, also where they ask for a stream. */
const JSON_ACCEPTED = "json-accepted";

const CONVERSATION = inTurns(LONG_STORY, "Do you know long stories?", "Some.");

const CONVERSATIONS: Readonly<Record<string, Ask["prompt"] & {}>> = {
  conversation: CONVERSATION,
  "long-conversation": LONG_CONVERSATION,
};

/** Circumstances under which gateways and the proxies in front of them tend to hold streams back. */
const CIRCUMSTANCES: readonly string[] = [
  "plain",
  "compression-accepted",
  "used-connection",
  "second-key",
  "conversation",
  "long-conversation",
  "json-accepted",
  ...Object.keys(PARAMETERS),
];

const incremental = defineCheck({
  id: "streaming.incremental",
  title: "A streamed chat reply arrives as it is produced",
  covers: ["STREAM-1"],
  explains:
    "Long streams: as they are, with compression accepted, on a connection that was used before, with the account's other key, in a short and in a long conversation, for a client that accepts JSON (as SDKs do), with a count of tokens asked for, with the usual parameters, with a tool offered, and after a system turn. When four fifths of the output arrive in one burst, or one document comes in place of a stream, the reply was held back. Judged only when the whole reply takes at least 0.4 s, and failed only when it happened to most of them.",
  needs: ["model.stream"],
  across: { case: CIRCUMSTANCES },
  cost: { requests: 3, waitS: 3 },
  async probe(t) {
    const { second } = t.target.keys;
    const fields = PARAMETERS[t.case ?? ""];
    const circumstance: Ask =
      t.case === "compression-accepted"
        ? { headers: [["Accept-Encoding", "gzip, deflate, br"]] }
        : t.case === JSON_ACCEPTED
          ? { headers: [["Accept", "application/json"]], intent: "either" }
          : {
              freshConnection: t.case !== "used-connection",
              ...(t.case === "second-key" && second !== undefined ? { key: second } : {}),
              ...(fields === undefined ? {} : { fields, intent: "either" as const }),
            };
    const ask = async () => {
      if (t.case === "used-connection") await t.ask({ endpoint: "models" });
      const prompt = CONVERSATIONS[t.case ?? ""] ?? LONG_STORY;
      return t.ask({ ...circumstance, model: "stream", mode: "stream", prompt });
    };
    const first = await Promise.all([ask(), ask()]);
    // One of two may be an accident of the network; more tell, as far as this process keeps up.
    const doubtful = first.some((answer) => isHeldBack(arrivalOf(answer)));
    const runs = [...first];
    while (doubtful && runs.length < MOST_RUNS && runs.filter(tellsArrival).length < ENOUGH_RUNS) {
      // Further and further apart: a gateway that was busy with the run's other requests is so for a while.
      await t.wait(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (runs.length - first.length)));
      runs.push(await ask());
    }
    return { runs };
  },
  judge({ runs }, verdict, axes) {
    const refused = runs.find(({ status = 0 }) => status >= 400 && status < 500);
    const isParameter = axes.case === JSON_ACCEPTED || PARAMETERS[axes.case ?? ""] !== undefined;
    if (isParameter && refused !== undefined)
      return verdict.notApplicable(`these parameters are refused (${refused.summary})`);
    for (const run of runs) verdict.assumeGood(run, "a long stream");
    const arrivals = runs.map((answer) => ({ answer, arrival: arrivalOf(answer) }));
    const telling = arrivals.filter(({ answer }) => tellsArrival(answer));
    const held = telling.filter(({ arrival }) => isHeldBack(arrival));
    const told = telling.length;
    if (told < (held.length === 0 ? 1 : FEWEST_RUNS))
      return verdict.inconclusive("this machine is too busy to tell when pieces arrive");
    const short = arrivals.filter(({ arrival }) => !arrival.document && arrival.totalMs < LONG_ENOUGH_MS);
    const stalled = short.length > 0 && held.length > 0 && !held.some(({ arrival }) => arrival.document);
    // A reply that once took so little takes no longer than that: what seems held back then is a stall on the way.
    if (isParameter && short.length === runs.length)
      return verdict.notApplicable("with these parameters the reply is short");
    if (stalled || short.length === runs.length) {
      return verdict.inconclusive(
        `the long reply takes only ${Math.round(short[0]?.arrival.totalMs ?? 0)} ms; name a longer one as models.stream`,
      );
    }
    const [worst] = held;
    verdict.must("STREAM-1", held.length, atMost(Math.max(1, Math.floor(told / 2))), {
      in: worst?.answer,
      because:
        worst === undefined ? `${told} streams` : `of ${told} streams held back: ${describeArrival(worst.arrival)}`,
    });
  },
});

function isHeldBack(arrival: Arrival): boolean {
  return arrival.document || isOneBurst(arrival);
}

/** Whether a stream says how it was sent: pieces that came while this process was held up were all read at once. */
function tellsArrival(answer: Answer): boolean {
  const arrival = arrivalOf(answer);
  return arrival.document || !isOneBurst(arrival) || isFairlySeen(answer, arrival);
}

function describeArrival({ document, totalMs, firstMs, burstShare, pieces }: Arrival): string {
  if (document) return "one document in place of a stream";
  return `${pieces} pieces, first after ${Math.round(firstMs)} of ${Math.round(totalMs)} ms, ${Math.round(burstShare * 100)} % in one burst`;
}

export const INCREMENTAL: readonly Check[] = [incremental];
