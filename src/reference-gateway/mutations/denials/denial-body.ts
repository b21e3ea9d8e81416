import { grid, type Mutation, mutation } from "../../change.ts";
import { dropsConnection, neverResponds } from "../../edits/connection-edits.ts";
import { drop, put } from "../../edits/replies/json-edits.ts";
import { body, html, parcelBytes, text } from "../../edits/replies/response-edits.ts";
import { both, inference, not, onMessages, onModels, streaming, type When } from "../../edits/when.ts";
import { onDenial, onParcel, type ParcelEdit, type ResponseEdit } from "../../edits/wrap.ts";
import { DENIALS, REQUIREMENTS_OF_INFERENCE_DENIALS } from "../../pipeline/refusal.ts";

/** Where the interface defines the body of a denial: the chat endpoint and the model list. */
const shown: When = not(onMessages);
const PAID = ["insufficient_credits", "quota_exceeded"] as const;
const OTHERS = DENIALS.filter((reason) => !PAID.some((paid) => paid === reason));

/** One body defect, separately for denials with a defined body and for the others. */
function forBoth(
  onPaid: string,
  onOthers: string,
  summary: string,
  edit: ResponseEdit,
  paid: Pick<Mutation, "detectedBy"> = {},
): Mutation[] {
  return [
    mutation(onPaid, {
      breaks: ["ERR-BODY-1"],
      summary: `${summary} on 402.`,
      apply: onDenial(PAID, shown, edit),
      ...paid,
    }),
    mutation(onOthers, {
      breaks: ["ERR-BODY-2"],
      summary: `${summary} except on 402.`,
      apply: onDenial(OTHERS, shown, edit),
    }),
  ];
}

const denied: When = (call) => call.refused !== undefined && DENIALS.includes(call.refused.reason);

/** Denials whose body differs from the interface, or that never arrive. */
export const DENIAL_BODY_MUTATIONS: readonly Mutation[] = [
  mutation("denial.messages-untyped", {
    breaks: ["COMPAT-ERROR-BODY"],
    summary: "Denials on the messages endpoint have no error.type.",
    apply: onDenial(DENIALS, onMessages, body(drop("error.type"))),
  }),
  ...forBoth(
    "denial.message-missing-on-402",
    "denial.message-missing",
    "Denials have no error.message",
    body(drop("error.message")),
  ),
  ...forBoth(
    "denial.message-empty-on-402",
    "denial.message-empty",
    "Denials have an empty error.message",
    body(put("error.message", "")),
    {
      detectedBy: { "errors.quota-exceeded[chat,non-streaming]": "ERR-BODY-1" },
    },
  ),
  ...forBoth(
    "denial.message-list-on-402",
    "denial.message-list",
    "Denials have an array as error.message",
    body(put("error.message", (message: unknown) => [message])),
  ),
  ...forBoth(
    "denial.message-object-on-402",
    "denial.message-object",
    "Denials have an object as error.message",
    body(put("error.message", (message: unknown) => ({ en: message }))),
  ),
  ...forBoth(
    "denial.type-missing-on-402",
    "denial.type-missing",
    "Denials have no error.type",
    body(drop("error.type")),
  ),
  ...forBoth(
    "denial.type-null-on-402",
    "denial.type-null",
    "Denials have null as error.type",
    body(put("error.type", null)),
  ),
  ...forBoth(
    "denial.type-number-on-402",
    "denial.type-number",
    "Denials have a number as error.type",
    body(put("error.type", 4)),
  ),
  ...forBoth(
    "denial.code-missing-on-402",
    "denial.code-missing",
    "Denials have no error.code",
    body(drop("error.code")),
  ),
  ...forBoth(
    "denial.error-text-on-402",
    "denial.error-text",
    "Denials have a string as error",
    body(put("error", "denied")),
  ),
  ...forBoth(
    "denial.body-flat-on-402",
    "denial.body-flat",
    "Denials have the error fields at the top level",
    body((value) => (value as { error: unknown }).error),
  ),
  ...forBoth(
    "denial.body-empty-object-on-402",
    "denial.body-empty-object",
    "Denials have an empty object as body",
    body(() => ({})),
  ),
  ...forBoth(
    "denial.body-missing-on-402",
    "denial.body-missing",
    "Denials have no body",
    text("", "application/json; charset=utf-8"),
  ),
  ...forBoth("denial.body-html-on-402", "denial.body-html", "Denials are HTML pages", html("Request denied")),
  ...forBoth(
    "denial.body-text-on-402",
    "denial.body-text",
    "Denials are plain text",
    text("Request denied.\n", "text/plain; charset=utf-8"),
  ),
  ...forBoth(
    "denial.body-list-on-402",
    "denial.body-list",
    "Denials have an array of errors as body",
    body((value) => [value]),
  ),
  ...forBoth(
    "denial.body-in-text-on-402",
    "denial.body-in-text",
    "Denials have JSON inside a JSON string as body",
    body((value) => JSON.stringify(value)),
  ),
  ...grid(["ERR-BODY-1", "ERR-BODY-2", "JSON-TEXT"], (edit: ParcelEdit) => onParcel(both(shown, denied), edit), {
    "denial.body-cut": {
      summary: "The body of denials is truncated.",
      with: parcelBytes((bytes) => bytes.subarray(0, bytes.length - 12)),
    },
    "denial.body-unfinished": {
      breaks: ["ERR-BODY-1", "ERR-BODY-2", "HTTP-FRAMING"],
      summary: "Content-Length of denials is too large: the body never completes.",
      with: (parcel) => ({
        ...parcel,
        headers: parcel.headers.map(([name, value]) =>
          name === "Content-Length" ? [name, String(Number(value) + 10)] : [name, value],
        ),
      }),
    },
    "denial.compressed-twice": {
      breaks: ["ERR-BODY-1", "ERR-BODY-2", "HTTP-CODING"],
      summary: "Denials are compressed twice if the client accepts compression.",
      with: (parcel, call) => {
        if (!parcel.headers.some(([name]) => name === "Content-Encoding")) return parcel;
        return parcelBytes((bytes) => call.behaviour.compress(bytes, call).bytes)(parcel, call);
      },
    },
  }),
  mutation("denial.list-html", {
    breaks: ["ERR-BODY-2"],
    summary: "Denials of the model list are HTML pages.",
    apply: onDenial(DENIALS, onModels, html("401 Authorization Required")),
  }),
  ...grid(["ANSWER-IN-TIME", ...REQUIREMENTS_OF_INFERENCE_DENIALS], neverResponds, {
    "denial.hangs": {
      summary: "Denials of non-streaming requests are never sent.",
      with: both(denied, inference, not(streaming)),
      mayBreak: ["BAD-BODY", "HTTP-METHOD", "HTTP-URL", "SPEND-7"],
    },
    "denial.hangs-on-stream": {
      breaks: ["STREAM-2", "ANSWER-IN-TIME", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
      summary: "Denials of streams are never sent.",
      with: both(denied, streaming),
      mayBreak: ["COMPAT-STREAM-ERROR", "COMPAT-TOOLS"],
    },
  }),
  ...grid(["STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS], dropsConnection, {
    "denial.drops-connection-on-stream": {
      summary: "Denied streams get no response: the connection is dropped.",
      with: both(denied, streaming),
      mayBreak: ["HTTP-KEEP-ALIVE"],
    },
    "denial.drops-connection-on-messages": {
      summary: "The messages endpoint drops the connection instead of sending a denial.",
      with: both(denied, onMessages),
      mayBreak: ["SPEND-7"],
    },
  }),
];
