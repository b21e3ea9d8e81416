import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import { MODES, type Mode } from "../../src/dialects/index.ts";
import { isTrue } from "../../src/judging/index.ts";
import { fisherSplit, MAX_FALSE_FAILURE } from "../shared/judge/fisher-split.ts";
import { inputTokensIn, tokenCountsOf } from "../shared/judge/token-counts.ts";
import { idsOf } from "../shared/requests/model-ids.ts";
import { inTurns, LONG_TEXT } from "../shared/requests/texts.ts";

/** Attempts per dialect before a model that follows the system prompt in only one of them counts against the gateway. */
const ROUNDS = 10;
/** Number of listed models to try as well, if those of the target file do not follow a system prompt. */
const MAX_LISTED = 4;
const MAX_TRIES_IN_TURN = 3;
/** Enough for a model that says more than the word. */
const MAX_TOKENS = 256;

const FORMS = ["one-turn", "several-turns"] as const;
type Form = (typeof FORMS)[number];

/** A response to a request whose system prompt requests a word. */
type Trial = { readonly response: Response; readonly word: string };

const follows = ({ response, word }: Trial): boolean => response.replyText?.includes(word) === true;

const applied = defineCheck({
  id: "messages.system-applied",
  title: "A model that follows a system prompt in the chat dialect follows it in the messages dialect",
  covers: ["MSG-7"],
  explains:
    "The system prompt tells the model to reply with a unique word, whatever the user says. One reply with the word shows that the prompt reached the model. If the first reply lacks it, the same model gets the instruction as a system turn in the chat dialect. If that works, both dialects are tried ten times, each time with a new word. A model that nearly always follows the prompt in one dialect and never in the other does so by chance in fewer than one of 10,000 runs, so the gateway lost the prompt, provided that the same instruction in a user turn works. Models may ignore system prompts: a model that follows neither does not affect the verdict, and other listed models are tried.",
  across: { mode: MODES, case: FORMS },
  dialect: "messages",
  cost: { requests: 4 },
  async run(t) {
    const form = t.case as Form;
    const skipped: string[] = [];
    const first: Trial[] = [];
    for (const id of await candidates(t)) {
      const messages = await sendWithSystem(t, "messages", id, { form, mode: t.mode });
      first.push(messages);
      if (follows(messages)) return { first, messages: [messages], chat: [], inTurn: null, ...NOT_COUNTED, skipped };
      if (!t.target.dialects.includes("chat")) continue;
      const chat = await sendWithSystem(t, "chat", id, { form, mode: "non-streaming" });
      if (follows(chat)) return { first, ...(await sendRounds(t, id, form)), ...NOT_COUNTED, skipped };
      skipped.push(id);
    }
    return { first, messages: [], chat: [], inTurn: null, ...(await countInputs(t)), skipped };
  },
  judge({ first, messages, chat, inTurn, plain, longPrompt, longSystem, skipped }, verdict, { mode }) {
    const served = messages.filter(({ response }) => response.admitted);
    const control = chat.filter(({ response }) => response.admitted);
    const followed = served.filter(follows).length;
    if (followed > 0) {
      verdict.must("MSG-7", true, isTrue("a reply that follows the system prompt"), { in: served[0]?.response });
      return;
    }
    const [trial] = first;
    if (trial !== undefined && !first.some(({ response }) => response.admitted)) {
      const { status = 0, summary } = trial.response;
      if (mode === "streaming" && status >= 400 && status < 500)
        verdict.notApplicable(`this gateway does not stream on /messages (${summary})`);
      verdict.requireControl(trial.response);
    }
    if (served.length === 0) {
      const models = `none of the models tried (${skipped.join(", ") || "none"}) follows a system prompt`;
      // The gateway or the provider counts the tokens, and may omit the system prompt from the count.
      const [base, byPrompt, bySystem] = [plain, longPrompt, longSystem].map(inputTokensOf);
      if (base !== undefined && byPrompt !== undefined && byPrompt > base + 100 && bySystem === base)
        return verdict.inconclusive(
          `${models}. The input tokens are ${base} with and without a long system prompt, and ${byPrompt} with a user turn of the same length. Name a model that follows system prompts as models.messages`,
        );
      return verdict.notApplicable(models);
    }
    if (inTurn !== null && !follows(inTurn))
      return verdict.inconclusive(
        `${trial?.response.summary}: replies in the messages dialect follow neither the system prompt nor the same instruction in a user turn`,
      );
    const inChat = control.filter(follows).length;
    const chance = fisherSplit({ hits: inChat, of: control.length, others: served.length });
    const what = `the word of the system prompt is in ${followed} of ${served.length} replies of the messages dialect, and in ${inChat} of ${control.length} replies of the same model in the chat dialect`;
    if (chance > MAX_FALSE_FAILURE)
      return verdict.inconclusive(`${what}: a model may ignore a system prompt that often`);
    verdict.must("MSG-7", false, isTrue("a reply that follows the system prompt"), {
      in: served[0]?.response,
      because: what,
    });
  },
});

/** Models to try, the plain one first: those of the target file, then listed ones. */
async function candidates(t: Session): Promise<string[]> {
  const { messages } = t.target.models;
  const named = [messages.plain, messages.echo, messages.stream].filter((id) => id !== undefined);
  const list = await t.send({ endpoint: "models", intent: "any" });
  const listed = list.admitted ? idsOf(list).filter((id) => !named.includes(id)) : [];
  return [...new Set([...named, ...listed.slice(0, MAX_LISTED)])];
}

async function sendWithSystem(
  t: Session,
  endpoint: Dialect,
  id: string,
  { form, mode }: { readonly form: Form; readonly mode: Mode },
): Promise<Trial> {
  const word = t.nonce();
  const system = `Whatever the user says: ${instruction(word)}`;
  const turns = form === "one-turn" ? [{ role: "user", content: "Hello." }] : inTurns("Please go on.");
  const request: RequestSpec = { endpoint, mode, model: { id }, intent: "any" };
  const response =
    endpoint === "messages"
      ? await t.send({ ...request, system, prompt: turns, maxTokens: MAX_TOKENS })
      : await t.send({ ...request, prompt: [{ role: "system", content: system }, ...turns] });
  return { response, word };
}

/**
 * Sends the instruction as a user turn, a few times at most, to see whether replies of this dialect depend on the prompt at all.
 */
async function sendInUserTurn(t: Session, id: string): Promise<Trial> {
  let trial: Trial;
  let tries = 0;
  do {
    const word = t.nonce();
    const request = {
      endpoint: "messages",
      mode: t.mode,
      model: { id },
      intent: "any",
      maxTokens: MAX_TOKENS,
    } as const;
    trial = { response: await t.send({ ...request, prompt: instruction(word) }), word };
  } while (!follows(trial) && ++tries < MAX_TRIES_IN_TURN);
  return trial;
}

const instruction = (word: string): string => `Reply with this word and nothing else: ${word}`;

type Rounds = { readonly messages: Trial[]; readonly chat: Trial[]; readonly inTurn: Trial };

async function sendRounds(t: Session, id: string, form: Form): Promise<Rounds> {
  const messages: Trial[] = [];
  const chat: Trial[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    messages.push(await sendWithSystem(t, "messages", id, { form, mode: t.mode }));
    chat.push(await sendWithSystem(t, "chat", id, { form, mode: "non-streaming" }));
  }
  return { messages, chat, inTurn: await sendInUserTurn(t, id) };
}

type InputCounts = {
  readonly plain: Response | null;
  readonly longPrompt: Response | null;
  readonly longSystem: Response | null;
};
const NOT_COUNTED: InputCounts = { plain: null, longPrompt: null, longSystem: null };

/** Sends a plain request, one with a long user turn, and one with a long system prompt. */
async function countInputs(t: Session): Promise<InputCounts> {
  const request: RequestSpec = { endpoint: "messages", mode: "non-streaming", prompt: "hello", intent: "any" };
  return {
    plain: await t.send(request),
    longPrompt: await t.send({ ...request, prompt: `hello ${LONG_TEXT}` }),
    longSystem: await t.send({ ...request, system: LONG_TEXT }),
  };
}

const inputTokensOf = (response: Response | null): number | undefined =>
  response === null ? undefined : inputTokensIn(tokenCountsOf(response));

export const SYSTEM_APPLIED: readonly Check[] = [applied];
