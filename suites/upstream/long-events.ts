import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { type JsonObject, member } from "../../src/core/index.ts";
import { DIALECTS, toolsOf } from "../../src/dialects/index.ts";
import { isTrue } from "../../src/judging/index.ts";
import { isCutByUs } from "../shared/judge/cut-by-us.ts";
import { ONE_TOOL } from "../shared/requests/tools.ts";
import {
  assumeReachedProviders,
  type MarkedExchange,
  type ProviderScript,
  sendMarked,
  sendPlain,
  wordsOf,
} from "./marked.ts";
import { calledTools } from "./tools/called.ts";

/** Above the usual limits of line readers: 4, 16 and 64 KiB, 256 KiB and 1 MiB. */
const LONG_SIZES = [4_200, 17_000, 70_000, 300_000, 2_000_000];
const SHORT_SIZES = [6, 6];
/** Room for all of them and the rest of the response. Responses of a run are otherwise limited to less. */
const BOUNDS = { maxBodyBytes: 4 * 1_048_576 };

interface Carrier {
  readonly script: ProviderScript[string];
  readonly fields?: (dialect: (typeof DIALECTS)[number]) => JsonObject;
  /** Which of the words the caller received. */
  readonly got: (response: Response) => string | undefined;
}

/** What the provider's events carry. */
const CARRIERS: Readonly<Record<string, Carrier>> = {
  text: { script: {}, got: ({ replyText }) => replyText },
  "tool-arguments": {
    script: { tool: { name: "get_weather" } },
    fields: (dialect) => ({ tools: toolsOf(dialect, ONE_TOOL) as JsonObject[] }),
    got: (response) => {
      const [called] = calledTools(response);
      const text = member(called?.input, "text");
      return typeof text === "string" ? text : called?.fragments.replace(/^\{\s*"text"\s*:\s*"/, "");
    },
  },
  reasoning: { script: { reasoning: true }, got: (response) => reasoningIn(response) },
};

/** The reasoning of a stream, in the fields that gateways use for it. */
function reasoningIn({ stream }: Response): string | undefined {
  const pieces = stream.events.flatMap(({ json }) => {
    const choices = member(json, "choices");
    const delta = Array.isArray(choices) ? member(choices[0], "delta") : member(json, "delta");
    const piece = member(delta, "reasoning_content") ?? member(delta, "reasoning") ?? member(delta, "thinking");
    return typeof piece === "string" ? [piece] : [];
  });
  return pieces.length === 0 ? undefined : pieces.join("");
}

type Sent = { readonly short: MarkedExchange; readonly long: MarkedExchange };

const longEvents = defineCheck({
  id: "upstream.long-events",
  title: "Long events of a provider's stream arrive complete",
  covers: ["UPSTREAM-REPLY", "UPSTREAM-LONG-EVENT"],
  explains:
    "The provider streams a reply in events of 4 kB, 17 kB, 70 kB, 300 kB and 2 MB, as providers do with tool arguments, images and reasoning: as text, as arguments of a tool call, and as reasoning before a short text. All of it should arrive. A stream that loses part of it without an error fails, because clients then act on half of the arguments. A stream that ends with an error or a closed connection is a warning. The usual cause is a line reader with a size limit: raise the limit, or report an error. Reasoning is compared only if the caller gets short reasoning.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, case: Object.keys(CARRIERS) },
  schedule: { resource: "large streams" },
  cost: { requests: 3 },
  async run(t) {
    const { script, fields } = CARRIERS[t.case] as Carrier;
    const plain = await sendPlain(t, "streaming");
    const send = (sizes: number[]): Promise<MarkedExchange> =>
      sendMarked(
        t,
        { mode: "streaming", intent: "invalid", bounds: BOUNDS, ...(fields && { fields: fields(t.dialect) }) },
        { "*": { ...script, pieceBytes: sizes } },
      );
    const sent: Sent | null = plain.response.admitted
      ? { short: await send(SHORT_SIZES), long: await send(LONG_SIZES) }
      : null;
    return { plain, sent };
  },
  judge({ plain, sent }, verdict, axes) {
    assumeReachedProviders(verdict, plain);
    if (sent === null) return verdict.inconclusive("no long events were sent");
    const { got } = CARRIERS[axes.case ?? ""] as Carrier;
    const short = sent.short.response;
    verdict.requireControl(short, "the same reply in short events");
    const [hasWords, text] = [got(short) === wordsOf(SHORT_SIZES).join(""), short.replyText];
    const isReasoning = axes.case === "reasoning";
    if (!hasWords && !isReasoning)
      return verdict.notApplicable("short events do not arrive complete either (upstream.reply)");
    const { response } = sent.long;
    if (isCutByUs(response)) verdict.inconclusive(`the stream is larger than Gauntlet records: ${response.summary}`);
    const lost = hasWords ? firstLost(got(response) ?? "") : undefined;
    const hasText = !isReasoning || response.replyText === text;
    const isWhole = lost === undefined && hasText;
    const isSeen = (response.status ?? 599) >= 400 || !response.complete || response.stream.errors.length > 0;
    const what = lost === undefined ? "no text after the reasoning" : `an incomplete event of ${lost} bytes`;
    const seen = { in: response };
    verdict.must(
      "UPSTREAM-REPLY",
      isWhole || isSeen,
      isTrue(
        "every event complete, or an error",
        isWhole ? "every event complete" : `${what}, and ${isSeen ? "an error" : "no error"}`,
      ),
      seen,
    );
    verdict.should(
      "UPSTREAM-LONG-EVENT",
      isWhole,
      isTrue("every event complete", isWhole ? "every event complete" : what),
      seen,
    );
  },
});

/** Size of the first event that did not arrive as sent, bytes. */
function firstLost(text: string): number | undefined {
  let at = 0;
  for (const [index, word] of wordsOf(LONG_SIZES).entries()) {
    if (!text.startsWith(word, at)) return LONG_SIZES[index];
    at += word.length;
  }
  return text.length === at ? undefined : LONG_SIZES.at(-1);
}

export const LONG_EVENTS: readonly Check[] = [longEvents];
