import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import { MODES, type Mode } from "../../src/dialects/index.ts";
import { isTrue } from "../../src/judging/index.ts";
import { fisherSplit, MAX_FALSE_FAILURE } from "../shared/fisher-split.ts";
import { idsOf } from "../shared/model-ids.ts";
import { inTurns, LONG_TEXT } from "../shared/texts.ts";

/** Requests with the system prompt in each dialect, before a model that follows it in one only says something of the gateway. */
const ROUNDS = 10;
/** Models of the list that are tried beside those of the target file, where these do not follow a system prompt. */
const MAX_LISTED = 4;
const TRIES_IN_TURN = 3;
/** Room for a model that says more than it was told. */
const MAX_TOKENS = 256;

const FORMS = ["one-turn", "several-turns"] as const;
type Form = (typeof FORMS)[number];

/** A request whose system prompt asks for a word, and whether the reply has it. */
type Tried = { readonly answer: Response; readonly word: string };

const follows = ({ answer, word }: Tried): boolean => answer.replyText?.includes(word) === true;

const applied = defineCheck({
  id: "messages.system-applied",
  title: "A system prompt that a model follows in the chat dialect, it follows in the messages dialect",
  covers: ["MSG-7"],
  explains:
    "The system prompt asks for a word of its own, whatever the user says. One reply with the word shows that it reached the model. Where none has it, the same model is asked in the chat dialect with a system turn, and both dialects ten times, each time with a new word: a model that nearly always follows one and never the other would do so by chance less than once in 10,000 runs, so the gateway lost the prompt, provided that a user turn that asks for a word gets it. Models may ignore system prompts: one that follows neither decides nothing, and listed models are tried beside it.",
  across: { mode: MODES, case: FORMS },
  dialect: "messages",
  cost: { requests: 4 },
  async run(t) {
    const form = t.case as Form;
    const skipped: string[] = [];
    const first: Tried[] = [];
    for (const id of await candidates(t)) {
      const messages = await ask(t, "messages", id, { form, mode: t.mode });
      first.push(messages);
      if (follows(messages)) return { first, messages: [messages], chat: [], inTurn: null, ...NOT_COUNTED, skipped };
      if (!t.dialects.includes("chat")) continue;
      const chat = await ask(t, "chat", id, { form, mode: "non-streaming" });
      if (follows(chat)) return { first, ...(await rounds(t, id, form)), ...NOT_COUNTED, skipped };
      skipped.push(id);
    }
    return { first, messages: [], chat: [], inTurn: null, ...(await counted(t)), skipped };
  },
  judge({ first, messages, chat, inTurn, plain, longPrompt, longSystem, skipped }, verdict, { mode }) {
    const served = messages.filter(({ answer }) => answer.admitted);
    const control = chat.filter(({ answer }) => answer.admitted);
    const followed = served.filter(follows).length;
    if (followed > 0) {
      verdict.must("MSG-7", true, isTrue("replies that follow the system prompt"), { in: served[0]?.answer });
      return;
    }
    const [tried] = first;
    if (tried !== undefined && !first.some(({ answer }) => answer.admitted)) {
      const { status = 0, summary } = tried.answer;
      if (mode === "streaming" && status >= 400 && status < 500)
        verdict.notApplicable(`this gateway does not stream on /messages (${summary})`);
      verdict.assumeGood(tried.answer);
    }
    if (served.length === 0) {
      const models = `no model that was tried (${skipped.join(", ") || "none"}) follows a system prompt`;
      // Counts are the gateway's or the provider's own, and need not include the system prompt.
      const [base, byPrompt, bySystem] = [plain, longPrompt, longSystem].map(inputCount);
      if (base !== undefined && byPrompt !== undefined && byPrompt > base + 100 && bySystem === base)
        return verdict.inconclusive(
          `${models}. Input tokens are ${base} with a long system prompt and without it, and ${byPrompt} with as long a user turn: name a model that follows system prompts as models.messages`,
        );
      return verdict.notApplicable(models);
    }
    if (inTurn !== null && !follows(inTurn))
      return verdict.inconclusive(
        `${tried?.answer.summary}: replies here follow neither the system prompt nor a user turn that asks for the same`,
      );
    const inChat = control.filter(follows).length;
    const chance = fisherSplit({ hits: inChat, of: control.length, others: served.length });
    const what = `the word of the system prompt is in ${followed} of ${served.length} replies here, and in ${inChat} of ${control.length} of the same model in the chat dialect`;
    if (chance > MAX_FALSE_FAILURE)
      return verdict.inconclusive(`${what}: a model may ignore a system prompt that often`);
    verdict.must("MSG-7", false, isTrue("replies that follow the system prompt"), {
      in: served[0]?.answer,
      because: what,
    });
  },
});

/** Models that serve both dialects, the plain one first: those of the target file, then those of the list. */
async function candidates(t: Session): Promise<string[]> {
  const { messages } = t.target.models;
  const named = [messages.plain, messages.echo, messages.stream].filter((id) => id !== undefined);
  const list = await t.send({ endpoint: "models", intent: "either" });
  const listed = list.admitted ? idsOf(list).filter((id) => !named.includes(id)) : [];
  return [...new Set([...named, ...listed.slice(0, MAX_LISTED)])];
}

async function ask(
  t: Session,
  endpoint: Dialect,
  id: string,
  { form, mode }: { readonly form: Form; readonly mode: Mode },
): Promise<Tried> {
  const word = t.nonce();
  const system = `Whatever the user says: ${instruction(word)}`;
  const turns = form === "one-turn" ? [{ role: "user", content: "Hello." }] : inTurns("Please go on.");
  const request: RequestSpec = { endpoint, mode, model: { id }, intent: "either" };
  const answer =
    endpoint === "messages"
      ? await t.send({ ...request, system, prompt: turns, maxTokens: MAX_TOKENS })
      : await t.send({ ...request, prompt: [{ role: "system", content: system }, ...turns] });
  return { answer, word };
}

/** The same instruction as a user turn, a few times at most: whether replies of this dialect depend on what they are asked at all. */
async function askInTurn(t: Session, id: string): Promise<Tried> {
  let tried: Tried;
  let tries = 0;
  do {
    const word = t.nonce();
    const request = {
      endpoint: "messages",
      mode: t.mode,
      model: { id },
      intent: "either",
      maxTokens: MAX_TOKENS,
    } as const;
    tried = { answer: await t.send({ ...request, prompt: instruction(word) }), word };
  } while (!follows(tried) && ++tries < TRIES_IN_TURN);
  return tried;
}

const instruction = (word: string): string => `Reply with this word and nothing else: ${word}`;

type Rounds = { readonly messages: Tried[]; readonly chat: Tried[]; readonly inTurn: Tried };

async function rounds(t: Session, id: string, form: Form): Promise<Rounds> {
  const messages: Tried[] = [];
  const chat: Tried[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    messages.push(await ask(t, "messages", id, { form, mode: t.mode }));
    chat.push(await ask(t, "chat", id, { form, mode: "non-streaming" }));
  }
  return { messages, chat, inTurn: await askInTurn(t, id) };
}

type Counted = {
  readonly plain: Response | null;
  readonly longPrompt: Response | null;
  readonly longSystem: Response | null;
};
const NOT_COUNTED: Counted = { plain: null, longPrompt: null, longSystem: null };

/** A plain request, and the same with a long user turn and a long system prompt. */
async function counted(t: Session): Promise<Counted> {
  const request: RequestSpec = { endpoint: "messages", mode: "non-streaming", prompt: "hello", intent: "either" };
  return {
    plain: await t.send(request),
    longPrompt: await t.send({ ...request, prompt: `hello ${LONG_TEXT}` }),
    longSystem: await t.send({ ...request, system: LONG_TEXT }),
  };
}

function inputCount(answer: Response | null): number | undefined {
  const usage = answer?.reply.usage ?? {};
  const own = usage["input_tokens"] ?? usage["prompt_tokens"];
  // What is read from or written to a provider's cache is counted apart.
  const cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].map((name) => usage[name] ?? 0);
  return own === undefined ? undefined : cached.reduce((sum, count) => sum + count, own);
}

export const SYSTEM_APPLIED: readonly Check[] = [applied];
