import { type Mutation, mutation } from "../change.ts";
import { dropsConnection, neverResponds } from "../edits/connection-edits.ts";
import { REQUIREMENTS_OF_INFERENCE_DENIALS } from "../edits/denial-requirements.ts";
import { drop, put } from "../edits/replies/json-edits.ts";
import { body, html, parcelBytes, text } from "../edits/replies/response-edits.ts";
import { both, inference, not, onMessages, onModels, streaming, type When } from "../edits/when.ts";
import { DENIALS, onDenial, onParcel } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { GatewayResponse } from "../pipeline/response.ts";

/** Where the interface defines the body of a denial: the chat endpoint and the model list. */
const shown: When = not(onMessages);
const PAID = ["insufficient_credits", "quota_exceeded"] as const;
const OTHERS = DENIALS.filter((reason) => !PAID.some((paid) => paid === reason));

type Edit = (response: GatewayResponse, call: Call) => GatewayResponse;

/** One body defect, separately for denials with a defined body and for the others. */
function forBoth(name: string, summary: string, edit: Edit): Mutation[] {
  return [
    mutation(`denial.${name}-on-402`, ["ERR-BODY-1"], `${summary} on 402.`, onDenial(PAID, shown, edit)),
    mutation(`denial.${name}`, ["ERR-BODY-2"], `${summary} except on 402.`, onDenial(OTHERS, shown, edit)),
  ];
}

const denied: When = (call) => call.refused !== undefined && DENIALS.includes(call.refused.reason);

/** Denials whose body differs from the interface, or that never arrive. */
export const DENIAL_BODY_MUTATIONS: readonly Mutation[] = [
  mutation(
    "denial.messages-untyped",
    ["COMPAT-ERROR-BODY"],
    "Denials on the messages endpoint have no error.type.",
    onDenial(DENIALS, onMessages, body(drop("error.type"))),
  ),

  ...forBoth("message-missing", "Denials have no error.message", body(drop("error.message"))),
  ...forBoth("message-empty", "Denials have an empty error.message", body(put("error.message", ""))),
  ...forBoth(
    "message-list",
    "Denials have an array as error.message",
    body(put("error.message", (message: unknown) => [message])),
  ),
  ...forBoth(
    "message-object",
    "Denials have an object as error.message",
    body(put("error.message", (message: unknown) => ({ en: message }))),
  ),
  ...forBoth("type-missing", "Denials have no error.type", body(drop("error.type"))),
  ...forBoth("type-null", "Denials have null as error.type", body(put("error.type", null))),
  ...forBoth("type-number", "Denials have a number as error.type", body(put("error.type", 4))),
  ...forBoth("code-missing", "Denials have no error.code", body(drop("error.code"))),
  ...forBoth("error-text", "Denials have a string as error", body(put("error", "denied"))),
  ...forBoth(
    "body-flat",
    "Denials have the error fields at the top level",
    body((value) => (value as { error: unknown }).error),
  ),
  ...forBoth(
    "body-empty-object",
    "Denials have an empty object as body",
    body(() => ({})),
  ),
  ...forBoth("body-missing", "Denials have no body", text("", "application/json; charset=utf-8")),
  ...forBoth("body-html", "Denials are HTML pages", html("Request denied")),
  ...forBoth("body-text", "Denials are plain text", text("Request denied.\n", "text/plain; charset=utf-8")),
  ...forBoth(
    "body-list",
    "Denials have an array of errors as body",
    body((value) => [value]),
  ),
  ...forBoth(
    "body-in-text",
    "Denials have JSON inside a JSON string as body",
    body((value) => JSON.stringify(value)),
  ),
  mutation(
    "denial.body-cut",
    ["ERR-BODY-1", "ERR-BODY-2", "JSON-TEXT"],
    "The body of denials is truncated.",
    onParcel(
      both(shown, denied),
      parcelBytes((bytes) => bytes.subarray(0, bytes.length - 12)),
    ),
  ),
  mutation(
    "denial.list-html",
    ["ERR-BODY-2"],
    "Denials of the model list are HTML pages.",
    onDenial(DENIALS, onModels, html("401 Authorization Required")),
  ),
  mutation(
    "denial.hangs",
    ["ANSWER-IN-TIME", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Denials of non-streaming requests are never sent.",
    neverResponds(both(denied, inference, not(streaming))),
  ),
  mutation(
    "denial.hangs-on-stream",
    ["STREAM-2", "ANSWER-IN-TIME", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Denials of streams are never sent.",
    neverResponds(both(denied, streaming)),
  ),
  mutation(
    "denial.drops-connection-on-stream",
    ["STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Denied streams get no response: the connection is dropped.",
    dropsConnection(both(denied, streaming)),
  ),
  mutation(
    "denial.drops-connection-on-messages",
    ["STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "The messages endpoint drops the connection instead of sending a denial.",
    dropsConnection(both(denied, onMessages)),
  ),
  mutation(
    "denial.body-unfinished",
    ["ERR-BODY-1", "ERR-BODY-2", "HTTP-FRAMING"],
    "Content-Length of denials is too large: the body never completes.",
    onParcel(both(shown, denied), (parcel) => ({
      ...parcel,
      headers: parcel.headers.map(([name, value]) =>
        name === "Content-Length" ? [name, String(Number(value) + 10)] : [name, value],
      ),
    })),
  ),
  mutation(
    "denial.compressed-twice",
    ["ERR-BODY-1", "ERR-BODY-2", "HTTP-CODING"],
    "Denials are compressed twice if the client accepts compression.",
    onParcel(both(shown, denied), (parcel, call) => {
      if (!parcel.headers.some(([name]) => name === "Content-Encoding")) return parcel;
      return parcelBytes((bytes) => call.behaviour.compress(bytes, call).bytes)(parcel, call);
    }),
  ),
];
