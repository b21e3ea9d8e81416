import { isObject, member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { onStructuredText, withImage } from "../edits/capability-edits.ts";
import { refuseBody } from "../edits/replies/body-edits.ts";
import { always, both, onChat, onMessages, streaming, type When } from "../edits/when.ts";
import { wrap } from "../edits/wrap.ts";
import { refusal } from "../pipeline/refusal.ts";

const IMAGES = ["COMPAT-IMAGES"];
const STRUCTURED = ["COMPAT-STRUCTURED"];
const NO_IMAGES = { message: "This model takes text only." };
/** Characters of base64: about 64 kB. */
const LARGE = 90_000;

const largeImage: When = (call) => withImage(call) && call.bodyText.length > LARGE;

/** Whatever the request specifies, the model replies in its own format. */
const formatIgnored = (when: When) =>
  wrap("readRequest", (next) => (call) => {
    const request = next(call);
    return "reason" in request || !when(call) ? request : { ...request, format: undefined };
  });

/** Images and structured outputs, for models that support them. */
export const CAPABILITY_MUTATIONS: readonly Mutation[] = [
  mutation(
    "images.refused-on-chat",
    IMAGES,
    "Images in chat completions are rejected.",
    refuseBody(both(onChat, withImage), NO_IMAGES),
  ),
  mutation(
    "images.refused-on-messages",
    IMAGES,
    "Images in the messages dialect are rejected.",
    refuseBody(both(onMessages, withImage), NO_IMAGES),
  ),
  mutation(
    "images.refused-in-streams",
    IMAGES,
    "A request with an image cannot be streamed.",
    refuseBody(both(streaming, withImage), NO_IMAGES),
  ),
  mutation(
    "images.large-500",
    IMAGES,
    "An image of more than 64 kB gets 500.",
    wrap("readRequest", (next) => (call) => (largeImage(call) ? refusal("internal_error") : next(call))),
  ),
  mutation(
    "structured.ignored-on-chat",
    STRUCTURED,
    "The chat dialect's response_format is dropped.",
    formatIgnored(onChat),
  ),
  mutation(
    "structured.ignored-on-messages",
    STRUCTURED,
    "The messages dialect's output format is dropped.",
    formatIgnored(onMessages),
  ),
  mutation("structured.ignored-in-streams", STRUCTURED, "Streams do not follow the schema.", formatIgnored(streaming)),
  mutation(
    "structured.fenced",
    STRUCTURED,
    "JSON is wrapped in a code block.",
    onStructuredText(always, (text) => `\`\`\`json\n${text}\n\`\`\``),
  ),
  mutation(
    "structured.introduced",
    STRUCTURED,
    "A sentence precedes the JSON.",
    onStructuredText(always, (text) => `Here is the JSON: ${text}`),
  ),
  mutation(
    "structured.field-missing",
    STRUCTURED,
    "One of the required fields is missing.",
    onStructuredText(
      always,
      changed((value) => Object.fromEntries(Object.entries(value).slice(0, -1))),
    ),
  ),
  mutation(
    "structured.numbers-as-text",
    STRUCTURED,
    "Numbers are sent as strings.",
    onStructuredText(
      always,
      changed((value) =>
        Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [name, typeof inner === "number" ? String(inner) : inner]),
        ),
      ),
    ),
  ),
  mutation(
    "structured.further-field",
    STRUCTURED,
    "The JSON has a field that the schema does not allow.",
    onStructuredText(
      always,
      changed((value) => ({ ...value, note: "generated" })),
    ),
  ),
  mutation(
    "structured.refused-on-messages",
    STRUCTURED,
    "An output format in the messages dialect is rejected.",
    refuseBody(
      both(onMessages, ({ parsed }) => member(parsed, "output_config") !== undefined),
      { message: "output_config: unknown field." },
    ),
  ),
];

function changed(edit: (value: Record<string, unknown>) => unknown): (text: string) => string {
  return (text) => {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? JSON.stringify(edit(value)) : text;
  };
}
