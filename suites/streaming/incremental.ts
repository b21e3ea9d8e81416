import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { toolsOf } from "../../src/dialects/index.ts";
import { atMost } from "../../src/judging/index.ts";
import {
  type Arrival,
  arrivalOf,
  isFairlySeen,
  isOneBurst,
  LONG_ENOUGH_MS,
  MAX_IN_ONE_BURST,
} from "../shared/judge/arrival.ts";
import { AMPLE_TOKENS, inTurns, LONG_STORY, LONG_TEXT } from "../shared/requests/texts.ts";
import { ONE_TOOL } from "../shared/requests/tools.ts";

/**
 * If one of two arrived in one piece, further runs show whether that was an accident: this many conclusive ones, out of at most
 * this many.
 */
const ENOUGH_RUNS = 6;
const MAX_RUNS = 12;
const FIRST_PAUSE_MS = 300;
const MAX_PAUSE_MS = 2_500;
/** Fewer conclusive runs than this prove nothing. */
const MIN_RUNS = 3;

/** Parameters that a gateway may refuse, because the interface does not show them, but which do not turn off streaming. */
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "usage-requested": { stream_options: { include_usage: true } },
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

/** The Accept header of SDKs, also when they request a stream. */
const JSON_ACCEPTED = "json-accepted";

const CONVERSATION = inTurns(LONG_STORY, "Do you know long stories?", "Some.");

const CONVERSATIONS: Readonly<Record<string, RequestSpec["prompt"] & {}>> = {
  conversation: CONVERSATION,
  "long-conversation": LONG_CONVERSATION,
};

/** Circumstances in which gateways and the proxies in front of them tend to buffer streams. */
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
    "Sends long streams: plain, with compression accepted, on a reused connection, with the account's other key, in a short and in a long conversation, for a client that accepts JSON (as SDKs do), with a token count requested, with the usual parameters, with a tool offered, and after a system turn. When four fifths of the output arrive in one burst, or one document replaces the stream, the reply was buffered. Judged only when the non-streaming reply takes at least 0.4 s, and fails only when most of them were buffered.",
  needs: ["model.stream"],
  across: { case: CIRCUMSTANCES },
  cost: { requests: 3, waitS: 3 },
  async run(t) {
    const { second } = t.target.keys;
    const fields = PARAMETERS[t.case ?? ""];
    const circumstance: RequestSpec =
      t.case === "compression-accepted"
        ? { headers: [["Accept-Encoding", "gzip, deflate, br"]] }
        : t.case === JSON_ACCEPTED
          ? { headers: [["Accept", "application/json"]], intent: "any" }
          : {
              freshConnection: t.case !== "used-connection",
              ...(t.case === "second-key" && second !== undefined ? { key: second } : {}),
              ...(fields === undefined ? {} : { fields, intent: "any" as const }),
            };
    const request = async () => {
      if (t.case === "used-connection") await t.send({ endpoint: "models" });
      const prompt = CONVERSATIONS[t.case ?? ""] ?? LONG_STORY;
      return t.send({ ...circumstance, model: "stream", mode: "streaming", prompt });
    };
    const first = await Promise.all([request(), request()]);
    // One of two may be a network accident; further runs decide, if this process keeps up.
    const doubtful = first.some((response) => isHeldBack(arrivalOf(response)));
    const runs = [...first];
    while (doubtful && runs.length < MAX_RUNS && runs.filter(showsArrival).length < ENOUGH_RUNS) {
      // With increasing pauses: a gateway that was busy with the run's other requests stays busy for a while.
      await t.wait(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (runs.length - first.length)));
      runs.push(await request());
    }
    return { runs };
  },
  judge({ runs }, verdict, axes) {
    const refused = runs.find(({ status = 0 }) => status >= 400 && status < 500);
    const isParameter = axes.case === JSON_ACCEPTED || PARAMETERS[axes.case ?? ""] !== undefined;
    if (isParameter && refused !== undefined)
      return verdict.notApplicable(`these parameters are refused (${refused.summary})`);
    for (const run of runs) verdict.requireControl(run, "a long stream");
    const arrivals = runs.map((response) => ({ response, arrival: arrivalOf(response) }));
    const usable = arrivals.filter(({ response }) => showsArrival(response));
    const held = usable.filter(({ arrival }) => isHeldBack(arrival));
    const judged = usable.length;
    if (judged < (held.length === 0 ? 1 : MIN_RUNS))
      return verdict.inconclusive("this machine is too busy to tell when pieces arrive");
    const short = arrivals.filter(({ arrival }) => !arrival.document && arrival.totalMs < LONG_ENOUGH_MS);
    const stalled = short.length > 0 && held.length > 0 && !held.some(({ arrival }) => arrival.document);
    // A reply that was this quick once does not take longer than that: what seems buffered then is a stall on the way.
    if (isParameter && short.length === runs.length)
      return verdict.notApplicable("with these parameters the reply is short");
    if (stalled || short.length === runs.length) {
      return verdict.inconclusive(
        `the long reply takes only ${Math.round(short[0]?.arrival.totalMs ?? 0)} ms; name a longer one as models.stream`,
      );
    }
    const [worst] = held;
    verdict.must("STREAM-1", held.length, atMost(Math.max(1, Math.floor(judged / 2))), {
      in: worst?.response,
      because:
        worst === undefined
          ? `${judged} streams`
          : `streams (of ${judged}) that were held back (${describeArrival(worst.arrival)})`,
    });
  },
});

function isHeldBack(arrival: Arrival): boolean {
  return arrival.document || isOneBurst(arrival);
}

/** Whether a stream shows how it was sent: pieces that arrived while this process was delayed were all read together. */
function showsArrival(response: Response): boolean {
  const arrival = arrivalOf(response);
  return arrival.document || !isOneBurst(arrival) || isFairlySeen(response, arrival);
}

function describeArrival({ document, totalMs, firstMs, burstShare, pieces }: Arrival): string {
  if (document) return "one document instead of a stream";
  return `${pieces} pieces, first after ${Math.round(firstMs)} of ${Math.round(totalMs)} ms, ${Math.round(burstShare * 100)} % in one burst`;
}

/** The same length in either script, and within what every model can generate. */
const ECHO_CHARACTERS = 4_000;
const filled = (text: string): string => `${text} `.repeat(ECHO_CHARACTERS).slice(0, ECHO_CHARACTERS).trim();
const PLAIN_TEXT = filled("The quick brown fox jumps over the lazy dog.");
const OTHER_SCRIPTS = filled("你好，世界。こんにちは 안녕 Привет שלום é漢字");
const SCRIPT_ROUNDS = 4;
/** Minimum time from the first to the last output in ASCII; a shorter one does not distinguish the two, ms. */
const SPREAD_MS = 60;

const otherScripts = defineCheck({
  id: "streaming.other-scripts",
  title: "A streamed reply in other scripts arrives as it is produced, as in ASCII",
  covers: ["STREAM-1"],
  explains:
    "A model that repeats its prompt streams a text in ASCII and one of the same length in Chinese, Japanese, Korean, Russian and Hebrew, alternately. If the first arrives piece by piece each time and the second in one burst each time, bytes were buffered until all were there. Judged only if the first takes at least 0.06 s from its first piece to its last.",
  needs: ["model.echo"],
  cost: { requests: 2 * SCRIPT_ROUNDS, waitS: 4 },
  async run(t) {
    const request: RequestSpec = {
      model: "echo",
      mode: "streaming",
      maxTokens: AMPLE_TOKENS,
      intent: "any",
    };
    const plain: Response[] = [];
    const other: Response[] = [];
    for (let round = 0; round < SCRIPT_ROUNDS; round++) {
      plain.push(await t.send({ ...request, prompt: PLAIN_TEXT }));
      other.push(await t.send({ ...request, prompt: OTHER_SCRIPTS }));
      // Further rounds are only for suspects.
      if (!other.every(comesAtOnce)) break;
    }
    return { plain, other };
  },
  judge({ plain, other }, verdict) {
    if (!plain.every(isSpread) || !other.every((response) => repeats(response, OTHER_SCRIPTS)))
      return verdict.notApplicable("models.echo does not repeat its prompt, or not slowly enough to tell");
    const held = other.filter(comesAtOnce);
    verdict.must("STREAM-1", held.length, atMost(SCRIPT_ROUNDS - 1), {
      in: held[0] ?? other[0],
      because: "streams held back, while none of as many in ASCII was",
    });
  },
});

/** At least the beginning: an output limit may truncate the rest. */
const repeats = (response: Response, text: string): boolean =>
  response.replyText?.includes(text.slice(0, ECHO_CHARACTERS / 4)) === true;

/** Piece by piece, over a measurable time. */
function isSpread(response: Response): boolean {
  const { totalMs, firstMs, burstShare } = arrivalOf(response);
  return repeats(response, PLAIN_TEXT) && totalMs - firstMs >= SPREAD_MS && burstShare < MAX_IN_ONE_BURST;
}

/** All of the other text at once, if this process kept up. */
function comesAtOnce(response: Response): boolean {
  const fair = response.exchange.ownLagMs < SPREAD_MS / 4;
  return repeats(response, OTHER_SCRIPTS) && arrivalOf(response).burstShare >= MAX_IN_ONE_BURST && fair;
}

export const INCREMENTAL: readonly Check[] = [incremental, otherScripts];
