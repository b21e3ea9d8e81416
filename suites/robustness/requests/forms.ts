import {
  BODY_FORMS,
  type BodyForm,
  type Check,
  defineCheck,
  type RequestSpec,
  type Response,
  type Session,
} from "../../../src/checks/index.ts";
import { DIALECTS, MODES } from "../../../src/dialects/index.ts";
import { success, that, type Verdict } from "../../../src/judging/index.ts";
import { inTurns, LONG_TEXT } from "../../shared/requests/texts.ts";

/** Longer than the part that gateways read ahead to find the model or `stream`. */
const LONG_TURN = LONG_TEXT.slice(0, 3_000);

/** The same request twice: in this client's usual form and in another one. */
type Pair = { readonly text: string; readonly plain: Response; readonly formed: Response };

const inAnyForm = defineCheck({
  id: "robustness.body-form",
  title: "A request means the same however its JSON is formatted and framed",
  covers: ["SAME-REQUEST"],
  explains:
    "Sends the same conversation, streaming and non-streaming, with white space around and within the document, with every character beyond ASCII escaped, with the long list of messages before all other members, and in chunks without a length. Each form should be served like the plain request, as a stream where requested, and with the same text where the model repeats its prompt. 411 is an acceptable response to chunks.",
  across: { dialect: DIALECTS, case: BODY_FORMS },
  cost: { requests: 4 },
  async run(t) {
    const pairs: Pair[] = [];
    for (const mode of MODES) {
      const text = `Please repeat: ${t.nonce()} é漢🚀`;
      const request: RequestSpec = {
        prompt: inTurns(text, LONG_TURN, "Noted."),
        mode,
        intent: mode === "non-streaming" ? "valid" : "any",
      };
      const formed = await t.send({ ...request, form: t.case as BodyForm, intent: "any" });
      pairs.push({ text, formed, plain: await t.send(request) });
    }
    return { pairs };
  },
  judge({ pairs }, verdict, { case: form }) {
    for (const pair of pairs) judgePair(pair, form === "in-chunks", verdict);
    if (verdict.findings.length === 0) verdict.inconclusive("the plain requests were not served");
  },
});

function judgePair({ text, plain, formed }: Pair, chunked: boolean, verdict: Verdict): void {
  if (!plain.admitted) return;
  const fair = chunked
    ? that("2xx, or 411 for want of a length", (status) => status === 411 || success.test(status))
    : success;
  const seen = { in: formed };
  if (!verdict.should("SAME-REQUEST", formed.status, fair, { ...seen, at: "status" }) || !formed.admitted) return;
  const { endpoint, mode } = formed.requested;
  const expected = endpoint === "chat" ? mode === "streaming" : plain.streamed;
  verdict.should("SAME-REQUEST", formed.streamed, expected, { ...seen, because: "whether the reply is a stream" });
  if (plain.replyText?.includes(text) !== true) return;
  verdict.should("SAME-REQUEST", formed.replyText?.includes(text) !== true, false, {
    ...seen,
    because: "the reply does not repeat the prompt, and the reply to the plain request does",
  });
}

/** Concurrent requests with the same prompt. */
const AT_ONCE = 4;

const samePrompts = defineCheck({
  id: "robustness.same-prompt",
  title: "Equal prompts get separate, complete replies",
  covers: ["OWN-ANSWER", "TEXT-INTACT"],
  explains:
    "A model that repeats its prompt gets the same prompt several times concurrently, streaming and non-streaming; then in sequence in both dialects, and in capitals. Each reply should have the format of its dialect and repeat its own prompt. A failure means that similar requests share a reply.",
  needs: ["model.echo"],
  cost: { requests: 2 * AT_ONCE + 6 },
  async run(t) {
    const together = [...(await atOnce(t, "non-streaming")), ...(await atOnce(t, "streaming"))];
    const text = `please repeat: ${t.nonce()}`;
    const other = text.toUpperCase();
    const turn: Entry[] = [];
    for (const endpoint of [...t.target.dialects, ...t.target.dialects])
      turn.push({ text, response: await t.send({ endpoint, model: "echo", prompt: text }) });
    for (const endpoint of t.target.dialects)
      turn.push({ text: other, response: await t.send({ endpoint, model: "echo", prompt: other }) });
    return { together, turn };
  },
  judge({ together, turn }, verdict) {
    const entries = [...together, ...turn];
    const repeats = entries.filter(({ response, text }) => response.replyText?.includes(text) === true);
    for (const { response } of turn) {
      if (!response.admitted || response.streamed) continue;
      verdict.must("OWN-ANSWER", response.reply.parts === undefined, false, {
        in: response,
        because: "the reply lacks the list of its dialect",
      });
    }
    // If most replies do not repeat the prompt, it is not an echo model.
    if (repeats.length * 2 > entries.length) {
      for (const { response, text } of entries) {
        if (!response.admitted || response.replyText === undefined) continue;
        verdict.should("TEXT-INTACT", !response.replyText.includes(text), false, {
          in: response,
          because: `the reply does not repeat its prompt, which other requests have as well: ${JSON.stringify(response.replyText.slice(0, 60))}`,
        });
      }
    }
    if (verdict.findings.length === 0) verdict.notApplicable("models.echo does not repeat its prompt");
  },
});

type Entry = { readonly text: string; readonly response: Response };

async function atOnce(t: Session, mode: "non-streaming" | "streaming"): Promise<Entry[]> {
  const text = `Please repeat: ${t.nonce()}`;
  const request: RequestSpec = { model: "echo", mode, prompt: text };
  const responses = await Promise.all(Array.from({ length: AT_ONCE }, () => t.send(request)));
  return responses.map((response) => ({ text, response }));
}

export const FORMS: readonly Check[] = [inAnyForm, samePrompts];
