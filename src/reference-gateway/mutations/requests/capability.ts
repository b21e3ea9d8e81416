import { isObject, member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { onStructuredText, withImage } from "../../edits/capability-edits.ts";
import { refuseBody } from "../../edits/replies/body-edits.ts";
import { always, both, onChat, onMessages, streaming, type When } from "../../edits/when.ts";
import { wrap } from "../../edits/wrap.ts";
import { refusal } from "../../pipeline/refusal.ts";

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
  ...grid(IMAGES, (when: When) => refuseBody(when, NO_IMAGES), {
    "images.refused-on-chat": {
      summary: "Images in chat completions are rejected.",
      with: both(onChat, withImage),
      detectedBy: { "compat.chat-images[non-streaming]": "COMPAT-IMAGES" },
    },
    "images.refused-on-messages": {
      summary: "Images in the messages dialect are rejected.",
      with: both(onMessages, withImage),
    },
    "images.refused-in-streams": {
      summary: "A request with an image cannot be streamed.",
      with: both(streaming, withImage),
      detectedBy: { "compat.messages-images[streaming]": "COMPAT-IMAGES" },
    },
  }),
  mutation("images.large-500", {
    breaks: IMAGES,
    summary: "An image of more than 64 kB gets 500.",
    apply: wrap("readRequest", (next) => (call) => (largeImage(call) ? refusal("internal_error") : next(call))),
    detectedBy: { "compat.chat-images[streaming]": "COMPAT-IMAGES" },
  }),
  ...grid(STRUCTURED, formatIgnored, {
    "structured.ignored-on-chat": { summary: "The chat dialect's response_format is dropped.", with: onChat },
    "structured.ignored-on-messages": {
      summary: "The messages dialect's output format is dropped.",
      with: onMessages,
      detectedBy: { "compat.messages-structured[non-streaming]": "COMPAT-STRUCTURED" },
    },
    "structured.ignored-in-streams": { summary: "Streams do not follow the schema.", with: streaming },
  }),
  ...grid(STRUCTURED, (edit: (text: string) => string) => onStructuredText(always, edit), {
    "structured.fenced": {
      summary: "JSON is wrapped in a code block.",
      with: (text) => `\`\`\`json\n${text}\n\`\`\``,
      detectedBy: { "compat.chat-structured[non-streaming]": "COMPAT-STRUCTURED" },
    },
    "structured.introduced": {
      summary: "A sentence precedes the JSON.",
      with: (text) => `Here is the JSON: ${text}`,
      detectedBy: { "compat.chat-structured[streaming]": "COMPAT-STRUCTURED" },
    },
    "structured.field-missing": {
      summary: "One of the required fields is missing.",
      with: changed((value) => Object.fromEntries(Object.entries(value).slice(0, -1))),
      detectedBy: { "compat.messages-structured[streaming]": "COMPAT-STRUCTURED" },
    },
    "structured.numbers-as-text": {
      summary: "Numbers are sent as strings.",
      with: changed((value) =>
        Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [name, typeof inner === "number" ? String(inner) : inner]),
        ),
      ),
      detectedBy: { "compat.chat-structured[non-streaming]": "COMPAT-STRUCTURED" },
    },
    "structured.further-field": {
      summary: "The JSON has a field that the schema does not allow.",
      with: changed((value) => ({ ...value, note: "generated" })),
      detectedBy: { "compat.chat-structured[non-streaming]": "COMPAT-STRUCTURED" },
    },
  }),
  mutation("structured.refused-on-messages", {
    breaks: STRUCTURED,
    summary: "An output format in the messages dialect is rejected.",
    apply: refuseBody(
      both(onMessages, ({ parsed }) => member(parsed, "output_config") !== undefined),
      { message: "output_config: unknown field." },
    ),
  }),
];

function changed(edit: (value: Record<string, unknown>) => unknown): (text: string) => string {
  return (text) => {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? JSON.stringify(edit(value)) : text;
  };
}
