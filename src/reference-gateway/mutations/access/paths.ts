import { grid, type Mutation, mutation } from "../../change.ts";
import { deliverRaw, PLAIN } from "../../delivery/deliver-raw.ts";
import { neverResponds } from "../../edits/connection-edits.ts";
import { insteadOf, setHeader } from "../../edits/replies/response-edits.ts";
import { always, onMessages, onModels, streaming, type When } from "../../edits/when.ts";
import { type Apply, onDenial, onServed, type ResponseEdit, wrap } from "../../edits/wrap.ts";
import type { Reason } from "../../pipeline/refusal.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";

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

/** Some requests are refused before anything else is checked. */
const refuses =
  (reason: Reason) =>
  (when: When): Apply =>
    wrap("respond", (next) => (call) => (when(call) ? insteadOf(reason)(page, call) : next(call)));

/** Paths and methods. */
export const BASE_MUTATIONS: readonly Mutation[] = [
  ...grid(["BASE-4"], (edit: ResponseEdit) => onDenial("not_found", always, edit), {
    "base.unknown-path-is-unknown-model": {
      summary: "A path that does not exist gets model_not_found.",
      with: insteadOf("model_not_found"),
      detectedBy: { "service.unknown-path[get]": "BASE-4" },
    },
    "base.unknown-path-200": {
      summary: "A path that does not exist gets a welcome page.",
      with: () => page,
      detectedBy: { "service.unknown-path[get]": "BASE-4" },
    },
    "base.unknown-path-500": {
      summary: "A path that does not exist gets 500.",
      with: insteadOf("internal_error"),
      mayBreak: ["HTTP-URL"],
      detectedBy: { "service.unknown-path[get]": "BASE-4" },
    },
  }),
  mutation("base.unknown-path-unknown-model-for-post", {
    breaks: ["BASE-4"],
    summary: "A POST to a path that does not exist gets model_not_found.",
    apply: onDenial("not_found", (call) => call.arrival.method === "POST", insteadOf("model_not_found")),
    detectedBy: { "service.unknown-path[post]": "BASE-4" },
  }),
  ...grid(["BASE-1"], refuses("not_found"), {
    "base.no-messages": {
      breaks: ["BASE-1", "BASE-2", "VER-1", "VER-2", "MSG-1", "MSG-2", "MSG-3", "MSG-7", "MSG-10", "AUTH-1"],
      summary: "The messages endpoint does not exist.",
      with: onMessages,
      detectedBy: { "auth.bearer[messages]": "AUTH-1" },
    },
    "base.no-models": {
      breaks: [
        "BASE-1",
        "VER-1",
        "MODELS-1",
        "MODELS-2",
        "MODELS-5",
        "AUTH-1",
        "AUTH-2",
        "AUTH-3",
        "AUTH-4",
        "ERR-401-INVALID",
      ],
      summary: "The model list does not exist.",
      with: onModels,
    },
    "base.stream-on-another-path": {
      breaks: ["BASE-1", "BASE-3", "STREAM-1"],
      summary: "Streaming chat requests get 404.",
      with: chatStream,
      mayBreak: [
        "AUTH-2",
        "AUTH-3",
        "AUTH-4",
        "CHAT-4",
        "ERR-401-INVALID",
        "ERR-401-REVOKED",
        "ERR-402-CREDITS",
        "ERR-402-QUOTA",
        "ERR-429-BUDGET",
        "LIMIT-CHANGE",
        "SPEND-2",
        "SPEND-3",
        "SPEND-4",
        "SPEND-9",
        "STREAM-2",
      ],
    },
  }),
  mutation("base.list-redirects", {
    breaks: ["MODELS-1", "AUTH-1"],
    summary: "The model list redirects to the same path with a slash.",
    apply: wrap("respond", (next) => (call) => {
      const redirected = onModels(call) && !call.arrival.url.split("?")[0]?.endsWith("/");
      return redirected
        ? { ...page, status: 301, headers: [["Location", "/v1/models/"]], body: { kind: "none" } }
        : next(call);
    }),
  }),
  mutation("base.chat-redirects-streams", {
    breaks: ["BASE-3", "STREAM-1"],
    summary: "Streaming chat requests are redirected to another path.",
    apply: onServed(chatStream, (response) => ({
      ...response,
      status: 307,
      headers: [["Location", "/v1/chat/completions/stream"]],
      body: { kind: "none" },
    })),
    mayBreak: ["CHAT-4", "ERR-429-BUDGET", "LIMIT-CHANGE", "SPEND-3", "SPEND-4", "SPEND-9", "STREAM-2"],
  }),
  ...grid(["HTTP-METHOD"], (edit: ResponseEdit) => onDenial("method_not_allowed", always, edit), {
    "base.wrong-method-500": {
      summary: "A method that the path does not support gets 500.",
      with: insteadOf("internal_error"),
    },
    "base.wrong-method-200": {
      summary: "A method that the path does not support gets a welcome page.",
      with: () => page,
    },
    "base.405-without-allow": {
      breaks: ["HTTP-ALLOW"],
      summary: "405 has no Allow header.",
      with: (response) => ({
        ...response,
        headers: response.headers.filter(([name]) => name !== "Allow"),
      }),
    },
  }),
  ...grid(["HTTP-URL"], refuses("internal_error"), {
    "base.options-500": {
      breaks: ["HTTP-METHOD"],
      summary: "OPTIONS gets 500.",
      with: purpose("options"),
    },
    "base.bad-url-500": {
      breaks: ["HTTP-URL"],
      summary: "A path with a malformed percent escape gets 500.",
      with: ({ arrival }) => /%(?![0-9a-f]{2})/i.test(arrival.url),
    },
    "base.query-string-500": {
      breaks: ["HTTP-URL"],
      summary: "An unknown query parameter gets 500.",
      with: ({ arrival }) => arrival.url.includes("?"),
    },
    "base.expect-continue-500": {
      breaks: ["HTTP-EXPECT"],
      summary: "A request that expects 100-continue gets 500.",
      with: ({ arrival }) => arrival.headers.expect !== undefined,
    },
  }),
  mutation("base.head-with-body", {
    breaks: ["HTTP-HEAD"],
    summary: "HEAD gets the body of GET.",
    apply: wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        call.arrival.method === "HEAD" ? deliverRaw(parcel, call, delivery, PLAIN) : next(parcel, call, delivery),
    ),
    mayBreak: ["HTTP-FRAMING"],
  }),
  mutation("base.unknown-path-hangs", {
    breaks: ["BASE-4", "ANSWER-IN-TIME"],
    summary: "A path that does not exist never gets a response.",
    apply: neverResponds(purpose("unknownPath")),
    mayBreak: ["HTTP-URL"],
  }),
  mutation("base.unknown-header-400", {
    breaks: ["HTTP-UNKNOWN-HEADER"],
    summary: "A request with an unknown x- header is rejected.",
    apply: refuses("invalid_request")(({ arrival }) =>
      Object.keys(arrival.headers).some(
        (name) => name.startsWith("x-") && name !== "x-api-key" && !name.startsWith("x-stainless"),
      ),
    ),
  }),
  mutation("base.success-says-error-code", {
    breaks: ["REASON-ON-SUCCESS"],
    summary: "Successful responses also have a reason header.",
    apply: onServed(always, setHeader("X-Service-Error-Code", "none")),
  }),
];
