import { isDeepStrictEqual } from "node:util";
import { type Check, defineCheck, type RequestSpec } from "../../src/checks/index.ts";
import { isObject, type JsonObject, type JsonValue, listOf, member } from "../../src/core/index.ts";
import { DIALECTS, type Dialect, imagePart, parseJson, toolsOf } from "../../src/dialects/index.ts";
import { isTrue } from "../../src/judging/index.ts";
import { PIXEL } from "../shared/requests/images.ts";
import { LONG_TEXT, MULTIBYTE_TEXT, SPACED_TEXT, SPECIAL_TEXT } from "../shared/requests/texts.ts";
import { TWO_TOOLS } from "../shared/requests/tools.ts";
import { assumeReachedProviders, isSameDialect, MARKER, type MarkedExchange, sendMarked, sendPlain } from "./marked.ts";

const turn = (role: string, content: JsonValue): JsonObject => ({ role, content });

/** Conversations that are easily changed in transit, by case: their fields. */
const CONVERSATIONS: Readonly<Record<string, (dialect: Dialect) => JsonObject>> = {
  texts: () => ({ messages: [turn("user", `${MARKER} ${MULTIBYTE_TEXT} ${SPECIAL_TEXT}`)] }),
  spaces: () => ({ messages: [turn("user", `${MARKER}\n${SPACED_TEXT}\n`)] }),
  long: () => ({ messages: [turn("user", `${MARKER} ${LONG_TEXT} ${LONG_TEXT} ${LONG_TEXT} ${LONG_TEXT}`)] }),
  turns: (dialect) => {
    const turns = Array.from({ length: 12 }, (_, index) =>
      turn(index % 2 === 0 ? "user" : "assistant", `turn ${index} of ${MARKER}`),
    );
    const last = turn("user", `the last turn of ${MARKER}`);
    const brief = "Be brief, and reply in French.";
    return dialect === "chat"
      ? { messages: [turn("system", brief), ...turns, last] }
      : { system: brief, messages: [...turns, last] };
  },
  tools: (dialect) => ({
    messages: [turn("user", `${MARKER} What is the weather in Oslo, and what time is it?`)],
    tools: toolsOf(dialect, TWO_TOOLS) as JsonObject[],
  }),
  image: (dialect) => ({
    messages: [
      turn("user", [
        { type: "text", text: `${MARKER} What is in this picture?` },
        imagePart(dialect, PIXEL) as JsonObject,
      ]),
    ],
  }),
};

const conversation = defineCheck({
  id: "upstream.conversation",
  title: "The provider receives the conversation as the caller sent it",
  covers: ["UPSTREAM-CONVERSATION"],
  explains:
    "Sends conversations that are easily altered in transit: multi-byte characters, escapes and control characters, significant spaces, long texts, many turns with a system prompt, tools, an image. The provider must get every turn, in order, with its role and content. Turns that the gateway adds are not judged. If gateway and provider use different dialects, the check looks for the texts, the names and schemas of tools and the image's data.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, case: Object.keys(CONVERSATIONS) },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlain(t, "non-streaming");
    const fields = CONVERSATIONS[t.case]?.(t.dialect) ?? {};
    return { plain, passed: await sendMarked(t, { mode: "non-streaming", intent: "any", fields }) };
  },
  judge({ plain, passed }, verdict) {
    assumeReachedProviders(verdict, plain);
    const { response } = passed;
    const got = bodyOf(passed);
    if (got === undefined) {
      if (response.admitted) verdict.inconclusive("the request was served by another provider");
      verdict.notApplicable(`the model does not take this: ${response.summary}`);
    }
    const sent = parseJson(response.exchange.request.body ?? "");
    const lost = isSameDialect(passed) ? missingTurns(sent, got) : missingTexts(sent, got);
    const what = lost.length === 0 ? "" : `lost or changed: ${lost.join("; ").slice(0, 400)}`;
    verdict.must("UPSTREAM-CONVERSATION", lost.length === 0, isTrue("every part, unchanged and in order", what), {
      in: response,
    });
  },
});

/** The body that reached the provider that served the request, or the last one. */
function bodyOf({ upstream }: MarkedExchange): unknown {
  const served = upstream.requests.find(({ status }) => status === 200) ?? upstream.requests.at(-1);
  return served === undefined ? undefined : parseJson(served.body);
}

/** Normalises a turn, whether its text is a string or a list of one part. */
function plainTurn(value: unknown): unknown {
  const content = member(value, "content");
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return { role: member(value, "role"), parts: parts.map((part) => withoutCacheControl(part)) };
}

/** Gateways mark what the provider should cache; that does not change the content. */
function withoutCacheControl(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { cache_control: _, ...rest } = part;
  return rest;
}

/** Turns, tools and the system prompt that arrived changed or in another order. */
function missingTurns(sent: unknown, got: unknown): string[] {
  const lost: string[] = [];
  const received = listOf(member(got, "messages")).map(plainTurn);
  let from = 0;
  for (const [index, expected] of listOf(member(sent, "messages")).map(plainTurn).entries()) {
    const at = received.findIndex((one, place) => place >= from && isDeepStrictEqual(one, expected));
    if (at < 0) lost.push(`turn ${index + 1}`);
    else from = at + 1;
  }
  const tools = listOf(member(got, "tools")).map(withoutCacheControl);
  for (const tool of listOf(member(sent, "tools")))
    if (!tools.some((one) => isDeepStrictEqual(one, tool))) lost.push(`tool ${nameOf(tool)}`);
  const system = member(sent, "system");
  if (
    typeof system === "string" &&
    !JSON.stringify(member(got, "system") ?? "").includes(JSON.stringify(system).slice(1, -1))
  )
    lost.push("the system prompt");
  return lost;
}

const nameOf = (tool: unknown): string => String(member(tool, "name") ?? member(member(tool, "function"), "name"));

/** The same if the provider uses the other dialect: what every translation has to preserve. */
function missingTexts(sent: unknown, got: unknown): string[] {
  const lost: string[] = [];
  const received = stringsIn(got);
  let from = 0;
  const all = listOf(member(sent, "messages"));
  const textsOf = (turns: readonly unknown[]) => turns.flatMap((one) => stringsIn(member(one, "content"), TEXTS));
  const [apart, turns] = [all.filter(isInstruction), all.filter((one) => !isInstruction(one))];
  // The other dialect has a separate field for instructions, which may precede or follow the conversation.
  for (const text of textsOf(apart))
    if (!received.some((one) => one.includes(text))) lost.push(`text "${text.slice(0, 40)}"`);
  for (const text of textsOf(turns)) {
    const at = received.findIndex((one, place) => place >= from && one.includes(text));
    if (at < 0) lost.push(`text "${text.slice(0, 40)}"`);
    else from = at;
  }
  const system = member(sent, "system");
  if (typeof system === "string" && !received.some((one) => one.includes(system))) lost.push("the system prompt");
  const tools = stringsIn(member(got, "tools"));
  for (const tool of listOf(member(sent, "tools")))
    if (!tools.includes(nameOf(tool))) lost.push(`tool ${nameOf(tool)}`);
  return lost;
}

const isInstruction = (turn: unknown): boolean => ["system", "developer"].includes(String(member(turn, "role")));

/** Fields that hold what a person wrote, and image data. */
const TEXTS = new Set(["text", "data", "url"]);

/** Strings in a value, in order; for objects those in certain fields, or in all. */
function stringsIn(value: unknown, fields?: ReadonlySet<string>): string[] {
  if (typeof value === "string") return [value.replace(/^data:image\/png;base64,/, "")];
  if (Array.isArray(value)) return value.flatMap((item) => stringsIn(item, fields));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    fields === undefined || fields.has(name) || isObject(inner) ? stringsIn(inner, fields) : [],
  );
}

/** Parameters by case: those that clients of the dialects send most, and one that no gateway knows. */
const PARAMETERS: Readonly<Record<string, (dialect: Dialect) => JsonObject>> = {
  sampling: () => ({ temperature: 0.3, top_p: 0.9 }),
  stop: (dialect) => (dialect === "chat" ? { stop: ["END", "\n\n"] } : { stop_sequences: ["END", "\n\n"] }),
  "tool-choice": (dialect) => ({
    tools: toolsOf(dialect, TWO_TOOLS) as JsonObject[],
    tool_choice:
      dialect === "chat" ? { type: "function", function: { name: "get_time" } } : { type: "tool", name: "get_time" },
  }),
  "output-limit": () => ({ max_tokens: 77 }),
  unknown: () => ({ gauntlet_unknown: { list: [1, 2.5, null, "ü"], on: true } }),
};

/** Other names that providers use for the same parameter. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  max_tokens: ["max_completion_tokens", "max_output_tokens"],
  stop_sequences: ["stop"],
  stop: ["stop_sequences"],
};

const parameters = defineCheck({
  id: "upstream.parameters",
  title: "The provider receives the request's parameters",
  covers: ["UPSTREAM-PARAMETERS"],
  explains:
    "Sends sampling parameters, stop sequences, a tool choice, an output limit, and a field that no gateway knows. The provider should get each with its value: a lost parameter changes the reply, and new provider features arrive as fields that a gateway does not know yet. Equivalent names are fine.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, case: Object.keys(PARAMETERS) },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlain(t, "non-streaming");
    const fields = PARAMETERS[t.case]?.(t.dialect) ?? {};
    const request: RequestSpec = { mode: "non-streaming", intent: "any", fields };
    return { plain, expected: fields, passed: await sendMarked(t, request) };
  },
  judge({ plain, expected, passed }, verdict) {
    assumeReachedProviders(verdict, plain);
    const { response } = passed;
    const got = bodyOf(passed);
    if (got === undefined) {
      if (response.admitted) verdict.inconclusive("the request was served by another provider");
      return verdict.notApplicable(`the gateway does not take this: ${response.summary}`);
    }
    const same = isSameDialect(passed);
    for (const [name, value] of Object.entries(expected)) {
      const received = [name, ...(ALSO[name] ?? [])].map((one) => member(got, one)).filter((one) => one !== undefined);
      const isSent = (one: unknown) =>
        isDeepStrictEqual(name === "tools" ? listOf(one).map(withoutCacheControl) : one, value);
      // Tools and tool choice look different in the other dialect.
      const isKept = same || !/^tool/.test(name) ? received.some(isSent) : received.length > 0;
      const shown = received.length === 0 ? "nothing" : JSON.stringify(received[0]).slice(0, 120);
      verdict.should("UPSTREAM-PARAMETERS", isKept, isTrue(`${name} as it was sent`, shown), {
        in: response,
        at: `/${name}`,
      });
    }
  },
});

export const CONVERSATION: readonly Check[] = [conversation, parameters];
