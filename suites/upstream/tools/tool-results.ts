import { type Check, defineCheck } from "../../../src/checks/index.ts";
import type { JsonObject } from "../../../src/core/index.ts";
import { DIALECTS, type Dialect, MODES } from "../../../src/dialects/index.ts";
import { isTrue } from "../../../src/judging/index.ts";
import { LONG_TEXT, MULTIBYTE_TEXT, SPECIAL_TEXT } from "../../shared/requests/texts.ts";
import {
  assumeReachedProviders,
  isSameDialect,
  MARKER,
  type MarkedExchange,
  sendMarked,
  sendPlain,
} from "../marked.ts";
import { calledTools } from "./called.ts";
import { type ConversationItem, conversationItems, describeItem } from "./conversation-items.ts";
import { TIME, toolIn, WEATHER } from "./definitions.ts";
import { differenceFrom } from "./difference.ts";
import { receivedBody, sentBody } from "./received.ts";

interface Step {
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: JsonObject }[];
  readonly results: readonly string[];
  /** What the model said before its calls. */
  readonly text?: string;
}

/** Calls of the provider, which the conversation continues. */
const FIRST = [
  { name: WEATHER.name, input: { city: "Łódź", days: 3, at: null } },
  { name: WEATHER.name, input: { city: "Oslo", days: 3, at: 0.30000000000000004 } },
] as const;

/** Two steps: parallel calls with the ids that the gateway gave them, and a call of an earlier conversation. */
const stepsOf = (ids: readonly string[], dialect: Dialect): readonly Step[] => [
  {
    calls: FIRST.map((call, index) => ({ ...call, id: ids[index] ?? "" })),
    results: [`{"celsius": 3.5, "text": ${JSON.stringify(MULTIBYTE_TEXT)}}`, `${SPECIAL_TEXT} ${LONG_TEXT}`],
  },
  {
    text: "Now the time.",
    calls: [{ id: dialect === "chat" ? "call_Gauntlet01" : "toolu_01Gauntlet", name: TIME.name, input: {} }],
    results: ["null"],
  },
];

/** The turns of a step in a dialect. The last result of the messages dialect is an error. */
function turnsOf({ calls, results, text }: Step, dialect: Dialect): JsonObject[] {
  if (dialect === "chat")
    return [
      {
        role: "assistant",
        content: text ?? null,
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(input) },
        })),
      },
      ...calls.map(({ id }, index) => ({ role: "tool", tool_call_id: id, content: results[index] ?? "" })),
    ];
  const said = text === undefined ? [] : [{ type: "text", text }];
  const toolUses = calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input }));
  return [
    { role: "assistant", content: [...said, ...toolUses] },
    {
      role: "user",
      content: calls.map(({ id }, index) => ({
        type: "tool_result",
        tool_use_id: id,
        content: results[index] ?? "",
        ...(results[index] === "null" ? { is_error: true } : {}),
      })),
    },
  ];
}

/** The second request is not sent if the calls of the first did not arrive. */
type Sent = { readonly plain: MarkedExchange; readonly first: MarkedExchange; readonly second: MarkedExchange | null };

const toolResults = defineCheck({
  id: "upstream.tool-results",
  title: "The provider receives tool calls and results of earlier turns as the caller sent them",
  covers: ["UPSTREAM-CONVERSATION"],
  explains:
    "The provider makes two parallel calls of one tool. The caller returns their results with the ids that it received, adds another call with its result, and sends a question. The provider must get every call with its arguments and every result with its text, in order, and each result must have the id of its call. The gateway may replace ids if it does so consistently. If gateway and provider use different dialects, their meaning is compared.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 3 },
  async run(t): Promise<Sent> {
    const plain = await sendPlain(t);
    const tools = [WEATHER, TIME].map((tool) => toolIn(t.dialect, tool));
    const question = { role: "user", content: `${MARKER} How is the weather in Łódź and Oslo?` };
    const request = { mode: t.mode, intent: "any" } as const;
    const script = { "*": { tool: FIRST.map(({ name, input }) => ({ name, arguments: input })) } };
    const first = await sendMarked(t, { ...request, fields: { messages: [question], tools } }, script);
    const ids = calledTools(first.response).map(({ id }) => id);
    if (!first.response.admitted || new Set(ids).size !== FIRST.length || !ids.every((id) => typeof id === "string"))
      return { plain, first, second: null };
    const turns = stepsOf(ids, t.dialect).flatMap((step) => turnsOf(step, t.dialect));
    const messages = [question, ...turns, { role: "user", content: "Which city is warmer?" }];
    return { plain, first, second: await sendMarked(t, { ...request, fields: { messages, tools } }) };
  },
  judge({ plain, first, second }, verdict) {
    assumeReachedProviders(verdict, plain);
    verdict.requireControl(first.response, "a request for two tool calls");
    if (second === null)
      return verdict.inconclusive(
        "the caller did not receive two tool calls with distinct ids; see upstream.tool-calls",
      );
    const got = receivedBody(second, verdict);
    const lost = firstLost(conversationItems(sentBody(second)), conversationItems(got), isSameDialect(second));
    verdict.must("UPSTREAM-CONVERSATION", lost === undefined, isTrue("every call and result, in order", lost), {
      in: second.response,
      at: "/messages",
    });
  },
});

/** The first item that is not among the received ones after the items before it; the gateway may add turns. */
function firstLost(
  sent: readonly ConversationItem[],
  received: readonly ConversationItem[],
  isSame: boolean,
): string | undefined {
  // The chat dialect has no mark for the result of a failed tool.
  const comparable = (item: ConversationItem) =>
    item.kind === "result" && !isSame ? { ...item, isError: false } : item;
  let from = 0;
  for (const item of sent) {
    const at = received.findIndex(
      (one, index) => index >= from && differenceFrom(comparable(item), comparable(one)) === undefined,
    );
    if (at < 0) return `lost, changed or moved: ${describeItem(item).slice(0, 200)}`;
    from = at + 1;
  }
  return undefined;
}

export const TOOL_RESULTS: readonly Check[] = [toolResults];
