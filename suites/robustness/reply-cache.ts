import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { DIALECTS, toolsOf } from "../../src/dialects/index.ts";
import { inputTokensIn, outputTokensIn, type TokenCounts, tokenCountsOf } from "../shared/judge/token-counts.ts";
import { inTurns, LONG_TEXT } from "../shared/requests/texts.ts";
import { TWO_TOOLS } from "../shared/requests/tools.ts";

/** About two hundred tokens. */
const FILLER = LONG_TEXT.slice(0, 1_200);
/** Counts that are closer than this are equal: unique texts of the same length may differ by some tokens. */
const MIN_DIFFERENCE = 8;
const FEW_TOKENS = 8;
const MANY_TOKENS = 256;

/** One of two requests with the same last message. */
interface Variant {
  /** The text at the end of the last message. */
  readonly tag: string;
  /** Occurs in the part that differs, and nowhere else. */
  readonly word: string;
  /** Whether it is the longer of the two. */
  readonly isLong: boolean;
}

interface Part {
  /** A request whose last message equals that of any other with the same tag. */
  readonly request: (t: Session, variant: Variant) => RequestSpec;
  /** The count that depends on the part. */
  readonly count: (counts: TokenCounts) => number | undefined;
}

const question = (tag: string): string => `Which word did I tell you? Reply with this word and nothing else. (${tag})`;

const history: Part["request"] = (_t, { tag, word, isLong }) => ({
  prompt: inTurns(question(tag), `The word is ${word}. ${isLong ? FILLER : ""}`, "Noted."),
});

/** Parts of a request that a cache key must include, besides the last message. */
const PARTS: Readonly<Record<string, Part>> = {
  history: { request: history, count: inputTokensIn },
  "history-of-streams": {
    request: (t, variant) => ({
      ...history(t, variant),
      mode: "streaming",
      ...(t.dialect === "chat" && { fields: { stream_options: { include_usage: true } } }),
    }),
    count: inputTokensIn,
  },
  system: {
    request: (t, { tag, word, isLong }) => {
      const system = `The word is ${word}. ${isLong ? FILLER : ""}`;
      const user = { role: "user", content: question(tag) };
      return t.dialect === "messages"
        ? { system, prompt: [user] }
        : { prompt: [{ role: "system", content: system }, user] };
    },
    count: inputTokensIn,
  },
  tools: {
    request: (t, { tag, isLong }) => ({
      prompt: `Say hello. (${tag})`,
      ...(isLong && { fields: { tools: toolsOf(t.dialect, TWO_TOOLS) } }),
    }),
    count: inputTokensIn,
  },
  "output-limit": {
    request: (_t, { tag, isLong }) => ({
      prompt: `Repeat this text. (${tag}) ${LONG_TEXT.slice(0, 240)}`,
      maxTokens: isLong ? FEW_TOKENS : MANY_TOKENS,
    }),
    count: outputTokensIn,
  },
};

/**
 * Three requests. The second has the same last message as the first, and the same difference as the control request, whose last
 * message is unique.
 */
type Round = {
  readonly first: Response;
  readonly control: Response;
  readonly second: Response;
  /** The words in the first and in the control request. */
  readonly words: readonly [first: string, control: string];
};

async function sendRound(t: Session, { request }: Part): Promise<Round> {
  const tag = t.nonce();
  const [firstWord, controlWord, secondWord] = [t.nonce(), t.nonce(), t.nonce()];
  const send = async (variant: Variant) => {
    const response = await t.send({ ...request(t, variant), intent: "any" });
    // A provider may fail once.
    return (response.status ?? 0) >= 500 ? await t.send({ ...request(t, variant), intent: "any" }) : response;
  };
  return {
    first: await send({ tag, word: firstWord, isLong: false }),
    control: await send({ tag: t.nonce(), word: controlWord, isLong: true }),
    second: await send({ tag, word: secondWord, isLong: true }),
    words: [firstWord, controlWord],
  };
}

const differ = (a: number | undefined, b: number | undefined): boolean =>
  a !== undefined && b !== undefined && Math.abs(a - b) >= MIN_DIFFERENCE;

const countsIn = ({ first, control, second }: Round, { count }: Part) =>
  [first, control, second].map((response) => count(tokenCountsOf(response)));

/** Whether the second request got the reply to the first: the same text, with token counts that only match the first. */
function isStored(round: Round, part: Part): boolean {
  const [first, control, second] = countsIn(round, part);
  const text = round.second.replyText ?? "";
  return text !== "" && text === round.first.replyText && differ(first, control) && first === second;
}

const wholeRequest = defineCheck({
  id: "robustness.reply-cache",
  title: "A reply belongs to the whole request, not to its last message",
  covers: ["OWN-ANSWER"],
  explains:
    "Sends two requests with the same last message that differ in the earlier turns, in the system prompt, in the tools or in the output limit. The second must not get the reply to the first, as it would from a cache whose key omits that part. The check fails if the reply contains the word of the other conversation. It also fails if, twice in a row, the reply has the same text as the first and token counts that only fit the first request, while a request of the same size with a unique last message has different counts. Caching replies to identical requests is fine.",
  across: { dialect: DIALECTS, case: Object.keys(PARTS) },
  cost: { requests: 6 },
  async run(t) {
    const part = PARTS[t.case] as Part;
    const rounds = [await sendRound(t, part)];
    if (rounds.some((round) => isStored(round, part))) rounds.push(await sendRound(t, part));
    return { rounds };
  },
  judge({ rounds }, verdict, axes) {
    const part = PARTS[axes.case ?? ""] as Part;
    const round = rounds.at(-1) as Round;
    for (const response of [round.first, round.control, round.second]) {
      const { status = 0, summary } = response;
      if (status >= 400 && status < 500 && status !== 429)
        verdict.notApplicable(`the gateway refuses this request (${summary})`);
      verdict.requireControl(response, "the request");
    }
    const { second, control, words } = round;
    const [firstCount, controlCount, secondCount] = countsIn(round, part);
    const texts = rounds.map(({ second: { replyText = "" }, words: [foreign] }) => replyText.includes(foreign));
    const showsText = control.replyText?.includes(words[1]) === true;
    if (!texts.includes(true) && !showsText && !differ(firstCount, controlCount))
      return verdict.notApplicable(
        "neither the replies of this model nor its token counts show which request they belong to",
      );
    verdict.must("OWN-ANSWER", texts.includes(true), false, {
      in: second,
      because: "the reply has the word of another conversation with the same last message",
    });
    verdict.must("OWN-ANSWER", isStored(round, part), false, {
      in: second,
      because: `the gateway sent the reply to another request with the same last message: same text and ${secondCount} tokens; a request of the same size has ${controlCount}`,
    });
  },
});

export const REPLY_CACHE: readonly Check[] = [wholeRequest];
