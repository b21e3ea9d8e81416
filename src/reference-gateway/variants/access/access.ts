import { type Variant, variant } from "../../change.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { onMessages } from "../../edits/when.ts";
import { type Apply, onDenial, wrap } from "../../edits/wrap.ts";
import type { Call, CheckName } from "../../pipeline/behaviour.ts";
import { refusal } from "../../pipeline/refusal.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";
import { before, NOTHING } from "./respond-before.ts";

const order =
  (...inferenceChecks: readonly CheckName[]): Apply =>
  (behaviour) => ({ ...behaviour, inferenceChecks });

const refusedMethod = (call: Call): GatewayResponse =>
  insteadOf("method_not_allowed", { allow: call.endpoint === "models" ? "GET" : "POST" })(NOTHING, call);

/** Access and the order of its checks, responses by path, and the contents of the list. */
export const ACCESS_VARIANTS: readonly Variant[] = [
  variant(
    "auth.vendor-key-refused",
    "The vendor's key header is not accepted.",
    wrap(
      "presentedKey",
      (next) => (call) => (call.arrival.headers.authorization === undefined ? undefined : next(call)),
    ),
  ),
  variant(
    "auth.vendor-key-everywhere",
    "The vendor's key header is accepted on every endpoint.",
    wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      return (
        next(call) ??
        (call.arrival.headers.authorization === undefined && typeof vendor === "string" ? vendor : undefined)
      );
    }),
  ),
  variant(
    "auth.both-keys-agree",
    "If the vendor's key header differs from the bearer key, the credentials are invalid.",
    wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      const key = next(call);
      return vendor === undefined || vendor === key ? key : undefined;
    }),
    ["COMPAT-BOTH-KEYS"],
  ),
  variant(
    "auth.one-key-only",
    "A request with both a bearer key and the vendor's key header is rejected as ambiguous.",
    before((call) =>
      call.arrival.headers.authorization !== undefined && call.arrival.headers["x-api-key"] !== undefined
        ? insteadOf("invalid_request", { message: "Send one credential." })(NOTHING, call)
        : undefined,
    ),
    ["COMPAT-BOTH-KEYS"],
  ),
  variant(
    "auth.one-space-only",
    "More than one space between scheme and key is rejected.",
    wrap(
      "presentedKey",
      (next) => (call) => (/^bearer {2}/i.test(call.arrival.headers.authorization ?? "") ? undefined : next(call)),
    ),
  ),
  variant(
    "auth.scheme-in-one-case",
    "The scheme must be spelled as documented.",
    wrap(
      "presentedKey",
      (next) => (call) => (/^Bearer /.test(call.arrival.headers.authorization ?? "Bearer ") ? next(call) : undefined),
    ),
    ["BEARER-SCHEME"],
  ),
  variant(
    "auth.challenge-in-detail",
    "401 details the error in WWW-Authenticate, as RFC 6750 describes.",
    onDenial(
      ["invalid_api_key", "key_revoked"],
      () => true,
      (response) => ({
        ...response,
        headers: response.headers.map(([name, value]) => [
          name,
          name === "WWW-Authenticate"
            ? 'Bearer realm="gateway", error="invalid_token", error_description="The token is not valid"'
            : value,
        ]),
      }),
    ),
  ),
  variant(
    "order.body-first",
    "The body is checked before the key.",
    order("body", "credentials", "model", "spending", "rate", "concurrency"),
  ),
  variant(
    "order.model-before-key",
    "The model is checked before the key.",
    order("model", "credentials", "body", "spending", "rate", "concurrency"),
  ),
  variant(
    "order.model-before-body",
    "The model is checked before the rest of the body.",
    order("credentials", "model", "body", "spending", "rate", "concurrency"),
  ),
  variant(
    "order.money-before-body",
    "Spending checks run before the body check.",
    order("credentials", "spending", "body", "model", "rate", "concurrency"),
  ),
  variant(
    "order.rate-first",
    "The rate limit is checked right after the key.",
    order("credentials", "rate", "concurrency", "body", "model", "spending"),
  ),
  variant(
    "order.concurrency-before-rate",
    "The concurrency limit is checked before the rate limit.",
    order("credentials", "body", "model", "spending", "concurrency", "rate"),
  ),
  variant(
    "order.money-last",
    "Spending checks run last.",
    order("credentials", "body", "model", "rate", "concurrency", "spending"),
  ),
  variant(
    "order.cap-before-balance",
    "Caps and budgets are checked before the balance.",
    wrap("check", (next) => (name, call) => {
      if (name !== "spending" || call.key === undefined) return next(name, call);
      const { behaviour, key } = call;
      if (behaviour.capReached(key, call)) return refusal("quota_exceeded");
      return next(name, call);
    }),
  ),
  variant(
    "paths.slash-refused",
    "A path with a trailing slash is a different path.",
    before((call) => (/\/(\?|$)/.test(call.arrival.url) ? insteadOf("not_found")(NOTHING, call) : undefined)),
  ),
  variant(
    "paths.key-before-path",
    "A path that does not exist gets 404 only with a valid key.",
    before((call) =>
      call.arrival.purpose === "unknownPath" && call.behaviour.check("credentials", call) !== undefined
        ? insteadOf("invalid_api_key")(NOTHING, call)
        : undefined,
    ),
  ),
  variant(
    "paths.head-refused",
    "HEAD is rejected.",
    before((call) => (call.arrival.method === "HEAD" ? refusedMethod(call) : undefined)),
  ),
  variant(
    "paths.options-refused",
    "OPTIONS is rejected.",
    before((call) => (call.arrival.method === "OPTIONS" ? refusedMethod(call) : undefined)),
  ),
  variant(
    "paths.options-for-browsers",
    "OPTIONS gets a CORS preflight response.",
    before((call) =>
      call.arrival.method === "OPTIONS"
        ? {
            ...NOTHING,
            headers: [
              ["Access-Control-Allow-Origin", "*"],
              ["Access-Control-Allow-Headers", "*"],
              ["Allow", "GET, POST, OPTIONS"],
            ],
          }
        : undefined,
    ),
  ),
  variant(
    "paths.wrong-method-404",
    "A method that the path does not support is reported as an unknown path.",
    onDenial("method_not_allowed", () => true, insteadOf("not_found")),
  ),
  variant(
    "paths.query-refused",
    "A query string is rejected on the messages endpoint.",
    before((call) =>
      onMessages(call) && call.arrival.url.includes("?") ? insteadOf("not_found")(NOTHING, call) : undefined,
    ),
  ),
];
