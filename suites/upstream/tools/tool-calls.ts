import { type Check, defineCheck } from "../../../src/checks/index.ts";
import { DIALECTS, MODES } from "../../../src/dialects/index.ts";
import { isTrue } from "../../../src/judging/index.ts";
import { LONG_TEXT, MULTIBYTE_TEXT, SPACED_TEXT, SPECIAL_TEXT } from "../../shared/requests/texts.ts";
import { assumeReachedProviders, MARKER, type ProviderScript, sendMarked, sendPlain } from "../marked.ts";
import { calledTools } from "./called.ts";
import { TIME, toolIn, WEATHER } from "./definitions.ts";
import { differenceFrom } from "./difference.ts";

type Behaviour = Exclude<ProviderScript[string], readonly unknown[]>;
type ExpectedCall = Required<Omit<Extract<Behaviour["tool"], readonly unknown[]>[number], "id">>;
type Arguments = NonNullable<ExpectedCall["arguments"]>;

const nested = (depth: number): Arguments[string] => (depth === 0 ? [null, {}, []] : { in: nested(depth - 1) });

/** Values of every JSON type. Numbers are within what all JSON implementations share: doubles (RFC 8259, 6). */
const TYPES: Arguments = {
  string: "",
  like: { number: "007", true: "true", null: "null", json: '{"a":[1,"\\u00e9"]}' },
  integers: [0, -1, 2_147_483_648, -9_007_199_254_740_991, 9_007_199_254_740_991],
  floats: [0.1, 0.30000000000000004, -1.5e-9, 1e21, 1.7976931348623157e308, 5e-324],
  on: true,
  off: false,
  none: null,
  inner: { none: null, list: [null, [], {}], "": "empty name", "with.dot/slash~": 1, "näme ☃": "ü", __proto: 1 },
  mixed: [1, "1", 1.5, [1], { 1: 1 }, false, null],
  deep: nested(16),
};

/** The provider's calls by case. */
const CALLS: Readonly<Record<string, readonly ExpectedCall[]>> = {
  types: [{ name: WEATHER.name, arguments: TYPES }],
  texts: [
    {
      name: WEATHER.name,
      arguments: {
        multibyte: MULTIBYTE_TEXT,
        special: SPECIAL_TEXT,
        spaced: SPACED_TEXT,
        escaped: 'C:\\new\\table "x" \\u0041 \\\\n {{a}} %7B &lt;',
      },
    },
  ],
  large: [
    {
      name: WEATHER.name,
      arguments: {
        text: Array<string>(20).fill(LONG_TEXT).join("\n"),
        rows: Array.from({ length: 2_000 }, (_none, id) => ({ id, name: `row ${id}`, share: id / 7 })),
      },
    },
  ],
  "no-arguments": [{ name: TIME.name, arguments: {} }],
  parallel: [
    { name: WEATHER.name, arguments: { city: "Oslo", days: 1 } },
    { name: TIME.name, arguments: {} },
    { name: WEATHER.name, arguments: { city: "Łódź", days: 2, more: [null, { a: 1 }] } },
    { name: WEATHER.name, arguments: { city: "Oslo", days: 1 } },
    { name: TIME.name, arguments: { zone: "Europe/Oslo" } },
  ],
};
/** Fragments of each call's arguments in a stream. */
const PIECES = 40;

const toolCalls = defineCheck({
  id: "upstream.tool-calls",
  title: "The caller gets the provider's tool calls, complete and unchanged",
  covers: ["UPSTREAM-REPLY"],
  explains:
    "The provider replies with tool calls, streaming and non-streaming: arguments of every JSON type, with extreme numbers and nested nulls, with multi-byte characters and escapes, 260 kB long, and empty; and five parallel calls, some of the same tool. The caller must get the same calls in the same order, each with its name, a unique id, and arguments of the same value. White space, the order of members, the ids themselves and the size of fragments are up to the gateway.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES, case: Object.keys(CALLS) },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlain(t);
    const fields = {
      messages: [{ role: "user", content: `${MARKER} Use the tools.` }],
      tools: [WEATHER, TIME].map((tool) => toolIn(t.dialect, tool)),
    };
    const script = { "*": { tool: [...(CALLS[t.case] ?? [])], pieces: PIECES } };
    return { plain, passed: await sendMarked(t, { mode: t.mode, fields, intent: "any" }, script) };
  },
  judge({ plain, passed: { response } }, verdict, axes) {
    assumeReachedProviders(verdict, plain);
    verdict.requireControl(response, "a request for these tool calls");
    const expected = CALLS[axes.case ?? ""] ?? [];
    const received = calledTools(response);
    const seen = { in: response };
    const names = (calls: readonly { readonly name: unknown }[]) => calls.map(({ name }) => name).join(", ");
    if (
      !verdict.must("UPSTREAM-REPLY", names(received), names(expected), { ...seen, because: "called tools, in order" })
    )
      return;
    for (const [index, call] of expected.entries()) {
      const what = differenceFrom(call.arguments, received[index]?.input);
      const shown = `call ${index + 1}: ${what}`;
      verdict.must("UPSTREAM-REPLY", what === undefined, isTrue("the provider's arguments", shown), seen);
    }
    const ids = received.map(({ id }) => id).filter((id) => typeof id === "string" && id !== "");
    verdict.must("UPSTREAM-REPLY", new Set(ids).size, expected.length, {
      ...seen,
      because: "number of distinct call ids",
    });
  },
});

export const TOOL_CALLS: readonly Check[] = [toolCalls];
