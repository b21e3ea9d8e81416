import { type Check, defineCheck } from "../../../src/checks/index.ts";
import { type JsonObject, type JsonValue, member } from "../../../src/core/index.ts";
import { DIALECTS, type Dialect, MODES, parseJson } from "../../../src/dialects/index.ts";
import { isTrue } from "../../../src/judging/index.ts";
import { schemaMisfit } from "../../shared/judge/schema-misfit.ts";
import { MULTIBYTE_TEXT } from "../../shared/requests/texts.ts";
import { assumeReachedProviders, isSameDialect, MARKER, sendMarked, sendPlain } from "../marked.ts";
import { definitionsIn, objectSchema } from "./definitions.ts";
import { differenceFrom } from "./difference.ts";
import { receivedBody, sentBody } from "./received.ts";

/** Limited to what every provider of structured outputs accepts: all fields required, no others. */
const SCHEMA: JsonObject = {
  ...objectSchema({
    städte: { type: "array", items: { $ref: "#/$defs/city" }, description: "In order ☃" },
    none: { type: ["string", "null"] },
    kind: { type: "string", enum: ["a", "null", "1"] },
    either: { anyOf: [objectSchema({ a: { type: "integer" } }), { type: "null" }] },
    empty: objectSchema({}),
  }),
  $defs: { city: objectSchema({ name: { type: "string" }, celsius: { type: "number" }, at: { type: "integer" } }) },
};

/** The provider's reply, which is valid against the schema. */
const VALUE: JsonValue = {
  städte: [
    { name: MULTIBYTE_TEXT, celsius: -0.30000000000000004, at: 9_007_199_254_740_991 },
    { name: 'C:\\new "x"', celsius: 1e21, at: 0 },
  ],
  none: null,
  kind: "null",
  either: { a: -1 },
  empty: {},
};
const NAME = "weather_report";
const PIECES = 30;

const formatFields = (dialect: Dialect): JsonObject =>
  dialect === "chat"
    ? { response_format: { type: "json_schema", json_schema: { name: NAME, strict: true, schema: SCHEMA } } }
    : { output_config: { format: { type: "json_schema", schema: SCHEMA } } };

const structuredOutput = defineCheck({
  id: "upstream.structured-output",
  title: "The schema of a structured output reaches the provider, and the provider's JSON reaches the caller",
  covers: ["UPSTREAM-PARAMETERS", "UPSTREAM-REPLY"],
  explains:
    "Requests JSON for a schema with references, alternatives, nulls and `additionalProperties`, in the dialect's format; the provider replies with JSON that is valid against it. The provider should get the same schema, and in the chat dialect the same `strict`. The caller must get the same JSON value, which must be valid against the schema. If the gateway gets the JSON another way, for example as tool arguments, only the schema is checked.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlain(t);
    const fields = { messages: [{ role: "user", content: `${MARKER} Report.` }], ...formatFields(t.dialect) };
    const script = { "*": { text: JSON.stringify(VALUE), pieces: PIECES } };
    return { plain, passed: await sendMarked(t, { mode: t.mode, fields, intent: "any" }, script) };
  },
  judge({ plain, passed }, verdict) {
    assumeReachedProviders(verdict, plain);
    const { response } = passed;
    const got = receivedBody(passed, verdict);
    const [sent, received] = [formatIn(sentBody(passed)), formatIn(got)];
    const schema = received.schema ?? schemaOfForcedTool(got);
    const difference = differenceFrom(sent.schema, schema);
    verdict.should(
      "UPSTREAM-PARAMETERS",
      difference === undefined,
      isTrue("the schema as it was sent", `another schema: ${difference}`),
      { in: response },
    );
    if (isSameDialect(passed) && sent.strict !== undefined)
      verdict.should("UPSTREAM-PARAMETERS", received.strict, sent.strict, { in: response, because: "strict" });
    if (received.schema === undefined && schema !== undefined) return;
    verdict.requireControl(response, "a request for structured output");
    const text = response.replyText ?? "";
    const misfit = schemaMisfit(text, SCHEMA) ?? differenceFrom(VALUE, parseJson(text));
    verdict.must("UPSTREAM-REPLY", misfit === undefined, isTrue("the provider's JSON", misfit), { in: response });
  },
});

/** The requested format, in either dialect. */
function formatIn(body: unknown) {
  const inChat = member(member(body, "response_format"), "json_schema");
  const inMessages = member(member(body, "output_config"), "format") ?? member(body, "output_format");
  return { schema: member(inChat ?? inMessages, "schema"), strict: member(inChat, "strict") };
}

/** Some gateways have the JSON returned as the arguments of a tool that the model has to call. */
function schemaOfForcedTool(body: unknown): unknown {
  const choice = member(body, "tool_choice");
  const forced = member(member(choice, "function"), "name") ?? member(choice, "name");
  const tools = definitionsIn(body);
  return tools.find(({ name }) => name === forced)?.schema ?? (tools.length === 1 ? tools[0]?.schema : undefined);
}

export const STRUCTURED_OUTPUT: readonly Check[] = [structuredOutput];
