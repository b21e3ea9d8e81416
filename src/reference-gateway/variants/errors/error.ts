import { type Variant, variant } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import {
  ACTION_HEADER,
  body,
  dropHeader,
  edits,
  html,
  insideStream,
  insteadOf,
  REASON_HEADER,
  setHeader,
  text,
} from "../../edits/replies/response-edits.ts";
import { always, both, every, inference, not, onMessages, streaming } from "../../edits/when.ts";
import { onDenial, onRefusal, onServed } from "../../edits/wrap.ts";
import { DENIALS, type Reason } from "../../pipeline/refusal.ts";
import { chatError } from "../../pipeline/refuse.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";

const PAID: readonly Reason[] = ["insufficient_credits", "quota_exceeded"];
const UNPAID = DENIALS.filter((reason) => !PAID.includes(reason));
const UPSTREAM: readonly Reason[] = ["upstream_error", "upstream_timeout"];
const CALLER: readonly Reason[] = ["invalid_request", "unsupported_media_type", "request_too_large"];

const shown = not(onMessages);

const chatShaped = (response: GatewayResponse): GatewayResponse =>
  response.refusal === undefined
    ? response
    : { ...response, body: { kind: "json", value: chatError(response.refusal) } };

/** Unusual refusals where the interface leaves their form open. */
export const ERROR_VARIANTS: readonly Variant[] = [
  variant(
    "errors.provider-fails-now-and-then",
    "One request in five hundred gets a provider failure with 502.",
    onServed(every(500), insteadOf("upstream_error", { status: 502 })),
    ["STEADY-SERVICE"],
  ),
  variant(
    "errors.code-text",
    "error.code is the reason, except on 402.",
    onDenial(UNPAID, shown, (response, call) =>
      body(put("error.code", response.refusal?.reason ?? "error"))(response, call),
    ),
  ),
  variant(
    "errors.code-null",
    "error.code is null, except on 402.",
    onDenial(UNPAID, shown, body(put("error.code", null))),
  ),
  variant(
    "errors.code-other-number",
    "error.code is a custom number.",
    onDenial(DENIALS, shown, body(put("error.code", 40_217))),
  ),
  variant(
    "errors.code-text-on-402",
    "error.code is the reason on 402.",
    onDenial(PAID, shown, (response, call) =>
      body(put("error.code", response.refusal?.reason ?? "error"))(response, call),
    ),
    ["ERR-BODY-6"],
  ),
  variant(
    "errors.more-fields",
    "Errors have extra fields.",
    onDenial(DENIALS, shown, (response, call) =>
      body((value) => ({
        ...(value as object),
        request_id: call.id,
        documentation_url: "https://example.test/errors",
        status: response.status,
      }))(response, call),
    ),
  ),
  variant(
    "errors.messages-beyond-ascii",
    "Error messages are not in English.",
    onRefusal([...DENIALS, ...CALLER], always, (refused) => ({
      ...refused,
      message: "Запрос отклонён — 要求は拒否されました 🚫",
    })),
  ),
  variant(
    "errors.long-messages",
    "Error messages are very long.",
    onRefusal([...DENIALS, ...CALLER], always, (refused) => ({
      ...refused,
      message: `${refused.message} `.repeat(200).trim(),
    })),
  ),
  variant(
    "errors.other-types",
    "error.type is a custom word.",
    onRefusal(DENIALS, always, (refused) => ({
      ...refused,
      type: { chat: "gateway_denial", messages: refused.type.messages },
    })),
  ),
  variant(
    "errors.other-actions",
    "Action headers are custom words.",
    onDenial(DENIALS, always, setHeader(ACTION_HEADER, "see-docs")),
  ),
  variant(
    "errors.action-on-quota-only",
    "Only spend cap denials have an action header.",
    onDenial(UNPAID.concat("insufficient_credits"), always, dropHeader(ACTION_HEADER)),
    ["ERR-HDR-3"],
  ),
  variant(
    "errors.messages-chat-shaped",
    "Errors of the messages endpoint have the chat format.",
    onDenial([...DENIALS, ...UPSTREAM, ...CALLER], onMessages, chatShaped),
    ["COMPAT-ERROR-BODY", "COMPAT-CONTENT-TYPE"],
  ),
  variant(
    "errors.messages-plain",
    "Errors of the messages endpoint are plain text.",
    onDenial([...DENIALS, ...UPSTREAM, ...CALLER], onMessages, (response, call) =>
      text(`${response.refusal?.message ?? "Denied."}\n`, "text/plain; charset=utf-8")(response, call),
    ),
    ["COMPAT-ERROR-BODY", "COMPAT-CONTENT-TYPE"],
  ),
  variant(
    "errors.messages-empty",
    "Errors of the messages endpoint have no body.",
    onDenial([...DENIALS, ...UPSTREAM, ...CALLER], onMessages, text("", "text/plain")),
    ["COMPAT-ERROR-BODY", "COMPAT-CONTENT-TYPE"],
  ),
  variant(
    "errors.bad-body-422",
    "Invalid bodies get 422.",
    onRefusal("invalid_request", always, (refused) => ({
      ...refused,
      status: refused.status === 400 ? 422 : refused.status,
    })),
  ),
  variant(
    "errors.bad-body-unnamed",
    "Errors other than the documented denials have no reason and no action.",
    onDenial(
      [...CALLER, "not_found", "method_not_allowed", "internal_error", ...UPSTREAM],
      always,
      dropHeader(REASON_HEADER, ACTION_HEADER),
    ),
  ),
  variant(
    "errors.bad-body-plain",
    "Errors for invalid bodies are plain text.",
    onDenial(CALLER, always, (response, call) =>
      text(`${response.refusal?.message ?? ""}\n`, "text/plain; charset=utf-8")(response, call),
    ),
    ["COMPAT-ERROR-BODY", "COMPAT-CONTENT-TYPE"],
  ),
  variant(
    "errors.upstream-500",
    "Every provider failure is a 500.",
    onRefusal(UPSTREAM, always, (refused) => ({ ...refused, status: 500 })),
  ),
  variant(
    "errors.upstream-503-with-retry-after",
    "Every provider failure is a 503 with Retry-After.",
    onRefusal(UPSTREAM, always, (refused) => ({ ...refused, status: 503, waitMs: 2_000 })),
  ),
  variant(
    "errors.upstream-page",
    "A provider failure is a 502 HTML page.",
    onDenial(UPSTREAM, always, html("502 Bad Gateway")),
    ["COMPAT-ERROR-BODY", "COMPAT-CONTENT-TYPE"],
  ),
  variant(
    "errors.upstream-own-word",
    "A provider failure has a custom reason.",
    onDenial(UPSTREAM, always, setHeader(REASON_HEADER, "provider_unavailable")),
  ),
  variant(
    "errors.upstream-599",
    "A provider failure has an unusual status.",
    onRefusal(UPSTREAM, always, (refused) => ({ ...refused, status: 599 })),
  ),
  variant(
    "errors.unknown-path-page",
    "A path that does not exist gets a 404 HTML page.",
    onDenial("not_found", always, edits(dropHeader(REASON_HEADER, ACTION_HEADER), html("404 Not Found"))),
  ),
  variant(
    "errors.budget-with-retry-after",
    "An exhausted budget has a Retry-After that does not help.",
    onRefusal("budget_exhausted", always, (refused) => ({ ...refused, waitMs: 1_000 })),
  ),
  variant(
    "errors.quota-with-retry-after",
    "A spend cap has a Retry-After until midnight.",
    onRefusal("quota_exceeded", always, (refused) => ({ ...refused, waitMs: 86_400_000 - (Date.now() % 86_400_000) })),
  ),
  variant(
    "errors.refused-after-the-stream-began",
    "A stream begins with 200 immediately; an invalid body is reported in its first event.",
    onDenial(CALLER, both(streaming, inference), insideStream),
    ["REFUSED-IN-TIME"],
  ),
  variant(
    "errors.cut-stream-without-item",
    "An interrupted stream just ends, without an error event.",
    (behaviour) => ({
      ...behaviour,
      events: (plan, call) => [...behaviour.events(plan, call)].filter((event) => event.kind !== "error"),
    }),
    ["COMPAT-STREAM-ERROR"],
  ),
];
