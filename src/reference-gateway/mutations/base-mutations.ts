import { type Mutation, mutation } from "../change.ts";
import { deliverByHand, PLAIN } from "../delivery/deliver-by-hand.ts";
import { neverResponds } from "../edits/connection-edits.ts";
import { insteadOf, setHeader } from "../edits/replies/response-edits.ts";
import { always, onMessages, onModels, streaming, type When } from "../edits/when.ts";
import { onDenial, onServed, wrap } from "../edits/wrap.ts";
import type { GatewayResponse } from "../pipeline/response.ts";

const chatStream: When = (call) => call.endpoint === "chat" && streaming(call);

const purpose =
  (purpose: string): When =>
  ({ arrival }) =>
    arrival.purpose === purpose;

const page: GatewayResponse = {
  status: 200,
  headers: [],
  body: {
    kind: "text",
    text: "<!DOCTYPE html><title>Welcome</title><p>The gateway is running.",
    contentType: "text/html",
  },
  afterMs: 0,
  outcome: "complete",
};

/** Paths and methods. */
export const BASE_MUTATIONS: readonly Mutation[] = [
  mutation(
    "base.unknown-path-is-unknown-model",
    ["BASE-4"],
    "A path that does not exist gets model_not_found.",
    onDenial("not_found", always, insteadOf("model_not_found")),
  ),
  mutation(
    "base.unknown-path-200",
    ["BASE-4"],
    "A path that does not exist gets a welcome page.",
    onDenial("not_found", always, () => page),
  ),
  mutation(
    "base.unknown-path-500",
    ["BASE-4"],
    "A path that does not exist gets 500.",
    onDenial("not_found", always, insteadOf("internal_error")),
  ),
  mutation(
    "base.unknown-path-unknown-model-for-post",
    ["BASE-4"],
    "A POST to a path that does not exist gets model_not_found.",
    onDenial("not_found", (call) => call.arrival.method === "POST", insteadOf("model_not_found")),
  ),
  mutation(
    "base.no-messages",
    ["BASE-1", "BASE-2", "VER-1", "VER-2", "MSG-1", "MSG-2", "MSG-3", "MSG-7", "MSG-10", "AUTH-1"],
    "The messages endpoint does not exist.",
    wrap("respond", (next) => (call) => (onMessages(call) ? insteadOf("not_found")(page, call) : next(call))),
  ),
  mutation(
    "base.no-models",
    ["BASE-1", "VER-1", "MODELS-1", "MODELS-2", "MODELS-5", "AUTH-1", "AUTH-2", "AUTH-3", "AUTH-4", "ERR-401-INVALID"],
    "The model list does not exist.",
    wrap("respond", (next) => (call) => (onModels(call) ? insteadOf("not_found")(page, call) : next(call))),
  ),
  mutation(
    "base.stream-on-another-path",
    ["BASE-1", "BASE-3", "STREAM-1"],
    "Streaming chat requests get 404.",
    wrap("respond", (next) => (call) => (chatStream(call) ? insteadOf("not_found")(page, call) : next(call))),
  ),
  mutation(
    "base.list-redirects",
    ["MODELS-1", "AUTH-1"],
    "The model list redirects to the same path with a slash.",
    wrap("respond", (next) => (call) => {
      const redirected = onModels(call) && !call.arrival.url.split("?")[0]?.endsWith("/");
      return redirected
        ? { ...page, status: 301, headers: [["Location", "/v1/models/"]], body: { kind: "none" } }
        : next(call);
    }),
  ),
  mutation(
    "base.chat-redirects-streams",
    ["BASE-3", "STREAM-1"],
    "Streaming chat requests are redirected to another path.",
    onServed(chatStream, (response) => ({
      ...response,
      status: 307,
      headers: [["Location", "/v1/chat/completions/stream"]],
      body: { kind: "none" },
    })),
  ),
  mutation(
    "base.wrong-method-500",
    ["HTTP-METHOD"],
    "A method that the path does not support gets 500.",
    onDenial("method_not_allowed", always, insteadOf("internal_error")),
  ),
  mutation(
    "base.wrong-method-200",
    ["HTTP-METHOD"],
    "A method that the path does not support gets a welcome page.",
    onDenial("method_not_allowed", always, () => page),
  ),
  mutation(
    "base.405-without-allow",
    ["HTTP-ALLOW"],
    "405 has no Allow header.",
    onDenial("method_not_allowed", always, (response) => ({
      ...response,
      headers: response.headers.filter(([name]) => name !== "Allow"),
    })),
  ),
  mutation(
    "base.options-500",
    ["HTTP-METHOD"],
    "OPTIONS gets 500.",
    wrap(
      "respond",
      (next) => (call) => (purpose("options")(call) ? insteadOf("internal_error")(page, call) : next(call)),
    ),
  ),
  mutation(
    "base.head-with-body",
    ["HTTP-HEAD"],
    "HEAD gets the body of GET.",
    wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        call.arrival.method === "HEAD" ? deliverByHand(parcel, call, delivery, PLAIN) : next(parcel, call, delivery),
    ),
  ),
  mutation(
    "base.unknown-path-hangs",
    ["BASE-4", "ANSWER-IN-TIME"],
    "A path that does not exist never gets a response.",
    neverResponds(purpose("unknownPath")),
  ),
  mutation(
    "base.bad-url-500",
    ["HTTP-URL"],
    "A path with a malformed percent escape gets 500.",
    wrap(
      "respond",
      (next) => (call) =>
        /%(?![0-9a-f]{2})/i.test(call.arrival.url) ? insteadOf("internal_error")(page, call) : next(call),
    ),
  ),
  mutation(
    "base.query-string-500",
    ["HTTP-URL"],
    "An unknown query parameter gets 500.",
    wrap(
      "respond",
      (next) => (call) => (call.arrival.url.includes("?") ? insteadOf("internal_error")(page, call) : next(call)),
    ),
  ),
  mutation(
    "base.expect-continue-500",
    ["HTTP-EXPECT"],
    "A request that expects 100-continue gets 500.",
    wrap(
      "respond",
      (next) => (call) =>
        call.arrival.headers.expect === undefined ? next(call) : insteadOf("internal_error")(page, call),
    ),
  ),
  mutation(
    "base.unknown-header-400",
    ["HTTP-UNKNOWN-HEADER"],
    "A request with an unknown x- header is rejected.",
    wrap(
      "respond",
      (next) => (call) =>
        Object.keys(call.arrival.headers).some(
          (name) => name.startsWith("x-") && name !== "x-api-key" && !name.startsWith("x-stainless"),
        )
          ? insteadOf("invalid_request")(page, call)
          : next(call),
    ),
  ),
  mutation(
    "base.success-says-error-code",
    ["REASON-ON-SUCCESS"],
    "Successful responses also have a reason header.",
    onServed(always, setHeader("X-Service-Error-Code", "none")),
  ),
];
