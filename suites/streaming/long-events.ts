import { type Check, defineCheck, isTimedOut, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { isTrue } from "../../src/judging/index.ts";
import { isCutByUs } from "../shared/judge/cut-by-us.ts";
import { assumeWholeReply } from "../shared/judge/own-length.ts";
import { AMPLE_TOKENS } from "../shared/requests/texts.ts";

/** Lengths in characters. The first shows whether long texts come in long events; the others exceed limits of line readers. */
const LENGTHS = [6_000, 70_000, 300_000];
/** Minimum size of a long event, bytes: even a tenth of the first text is more than any model sends at once. */
const MIN_LONG_BYTES = 4_096;
/** For the longest text; the first has less, because some models reject more than they can generate. */
const MANY_TOKENS = 65_536;
const ENDED_BY_LIMIT: readonly unknown[] = ["length", "max_tokens"];

/** Numbered words. */
const textOf = (length: number): string =>
  Array.from({ length: Math.ceil(length / 8) }, (_, index) => `n${String(index).padStart(6, "0")}`).join(" ");

const longestOf = ({ stream }: Response): number => Math.max(0, ...stream.events.map(({ start, end }) => end - start));

const longEvents = defineCheck({
  id: "streaming.long-events",
  title: "Long events of a stream arrive complete",
  covers: ["STREAM-4"],
  explains:
    "A model that repeats its prompt streams a text of 6,000 characters. If it arrives in one event or a few long ones, texts of 70,000 and 300,000 characters follow, and must arrive complete. Line readers with a size limit, in the gateway or in a proxy in front of it, truncate or drop such events. Most models stream only short events: then nothing is judged here, and only a provider that Gauntlet controls can send long ones (upstream.long-events).",
  needs: ["model.echo"],
  across: { dialect: DIALECTS },
  cost: { requests: LENGTHS.length + 1 },
  async run(t) {
    const sent: { readonly length: number; readonly response: Response; readonly nonStreaming: Response | null }[] = [];
    for (const length of LENGTHS) {
      const limit = length === LENGTHS[0] ? AMPLE_TOKENS : MANY_TOKENS;
      const request: RequestSpec = {
        model: "echo",
        intent: "any",
        prompt: textOf(length),
        ...(t.dialect === "messages" && { maxTokens: limit }),
      };
      const response = await t.send({ ...request, mode: "streaming" });
      const isLong = longestOf(response) >= MIN_LONG_BYTES;
      const isPart = isLong && response.replyText?.includes(textOf(length)) !== true;
      // The model may generate less: its non-streaming reply shows that.
      const nonStreaming = isPart ? await t.send({ ...request, mode: "non-streaming" }) : null;
      sent.push({ length, response, nonStreaming });
      if (!isLong || isPart) break;
    }
    return { sent };
  },
  judge({ sent }, verdict) {
    const [first] = sent;
    if (first === undefined) return verdict.inconclusive("nothing was sent");
    const { status = 0, requested, summary } = first.response;
    if (requested.endpoint === "messages" && status >= 400 && status < 500)
      verdict.notApplicable(`no streaming on /messages (${summary})`);
    verdict.requireControl(first.response, "a stream of the echo model");
    const longest = longestOf(first.response);
    if (longest < MIN_LONG_BYTES)
      return verdict.notApplicable(
        `the longest event of this model has ${longest} bytes; declare upstream to have long events tested`,
      );
    for (const { length, response, nonStreaming } of sent) {
      // A model may reject a text of this length, or generate it too slowly.
      if ((response.status ?? 599) >= 400 || isTimedOut(response.exchange) || isCutByUs(response)) continue;
      if (ENDED_BY_LIMIT.includes(response.stream.finishReasons.at(-1))) continue;
      const { replyText = "", summary } = response;
      if (nonStreaming?.admitted === true)
        assumeWholeReply(verdict, { response, expected: textOf(length), replies: [response, nonStreaming] });
      verdict.should("STREAM-4", replyText.includes(textOf(length)), isTrue("the whole text"), {
        in: response,
        because: `${replyText.length} of ${length} characters of a text in long events (${summary})`,
      });
    }
    if (verdict.findings.length === 0) verdict.notApplicable("the model does not repeat texts of this length");
  },
});

export const LONG_EVENTS: readonly Check[] = [longEvents];
