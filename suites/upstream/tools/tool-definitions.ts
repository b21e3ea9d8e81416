import { type Check, defineCheck } from "../../../src/checks/index.ts";
import { type JsonObject, member } from "../../../src/core/index.ts";
import { DIALECTS, type Dialect, MODES } from "../../../src/dialects/index.ts";
import { isTrue } from "../../../src/judging/index.ts";
import { assumeReachedProviders, isSameDialect, MARKER, sendMarked, sendPlain } from "../marked.ts";
import { definitionsIn, MANY_TOOLS, RICH_TOOLS, TIME, toolIn, WEATHER } from "./definitions.ts";
import { differenceFrom } from "./difference.ts";
import { receivedBody, sentBody } from "./received.ts";

const toolsIn = (dialect: Dialect, tools: typeof RICH_TOOLS): JsonObject => ({
  tools: tools.map((tool) => toolIn(dialect, tool)),
});

/** Tools and tool choices, by case: the fields of the request. */
const REQUESTS: Readonly<Record<string, (dialect: Dialect) => JsonObject>> = {
  schemas: (dialect) => toolsIn(dialect, RICH_TOOLS),
  "200-tools": (dialect) => toolsIn(dialect, MANY_TOOLS),
  "one-named-call": (dialect) => ({
    ...toolsIn(dialect, [WEATHER, TIME]),
    ...(dialect === "chat"
      ? { tool_choice: { type: "function", function: { name: TIME.name } }, parallel_tool_calls: false }
      : { tool_choice: { type: "tool", name: TIME.name, disable_parallel_tool_use: true } }),
  }),
};

const toolDefinitions = defineCheck({
  id: "upstream.tool-definitions",
  title: "The provider receives the tools as the caller defined them",
  covers: ["UPSTREAM-CONVERSATION", "UPSTREAM-PARAMETERS"],
  explains:
    "Sends tools whose definitions are easily changed in transit: a name of 64 characters, descriptions with special characters, schemas with references, alternatives, numbers and `additionalProperties`, a strict tool, 200 tools, and a choice of one tool without parallel calls. The provider must get every tool with its name, description and schema. It should get them in the same order, with the same `strict` and tool choice. If gateway and provider use different dialects, their meaning is compared. A gateway that rejects such a request is not judged.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES, case: Object.keys(REQUESTS) },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlain(t);
    const fields = {
      messages: [{ role: "user", content: `${MARKER} Use a tool.` }],
      ...REQUESTS[t.case]?.(t.dialect),
    };
    return { plain, passed: await sendMarked(t, { mode: t.mode, intent: "any", fields }) };
  },
  judge({ plain, passed }, verdict) {
    assumeReachedProviders(verdict, plain);
    const got = receivedBody(passed, verdict);
    const sent = sentBody(passed);
    const [expected, received] = [definitionsIn(sent), definitionsIn(got)];
    const seen = { in: passed.response, at: "/tools" };
    const byName = new Map(received.map((tool) => [tool.name, tool]));
    const wrong = expected.flatMap(({ name, description, schema }) => {
      const own = byName.get(name);
      if (own === undefined) return [`${name} lost`];
      const what = differenceFrom({ description, schema }, { description: own.description, schema: own.schema });
      return what === undefined ? [] : [`${name}: ${what}`];
    });
    const shown = wrong.length === 0 ? "" : `${wrong.length} of ${expected.length} lost or changed: ${wrong[0]}`;
    verdict.must("UPSTREAM-CONVERSATION", wrong.length === 0, isTrue("every tool unchanged", shown), seen);
    const order = received.map(({ name }) => name).filter((name) => expected.some((tool) => tool.name === name));
    const names = expected.map(({ name }) => name);
    const isInOrder = wrong.length > 0 || differenceFrom(names, order) === undefined;
    verdict.should("UPSTREAM-PARAMETERS", isInOrder, isTrue("the tools in order", "another order"), seen);
    // Not every provider of the other dialect has strict tools.
    for (const { name, strict } of isSameDialect(passed) ? expected : [])
      if (strict !== undefined)
        verdict.should("UPSTREAM-PARAMETERS", byName.get(name)?.strict, strict, {
          in: passed.response,
          because: `strict of ${name}`,
        });
    if (member(sent, "tool_choice") === undefined) return;
    const difference = differenceFrom(choiceIn(sent), choiceIn(got));
    verdict.should(
      "UPSTREAM-PARAMETERS",
      difference === undefined,
      isTrue("the same tool choice", `another tool choice: ${difference}`),
      { in: passed.response, at: "/tool_choice" },
    );
  },
});

/** The chosen tool, and whether parallel calls are allowed, in either dialect. */
function choiceIn(body: unknown) {
  const choice = member(body, "tool_choice");
  return {
    name: member(member(choice, "function"), "name") ?? member(choice, "name") ?? choice,
    parallel: member(body, "parallel_tool_calls") !== false && member(choice, "disable_parallel_tool_use") !== true,
  };
}

export const TOOL_DEFINITIONS: readonly Check[] = [toolDefinitions];
