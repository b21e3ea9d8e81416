import { grid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { parcelHeader, setHeader } from "../../edits/replies/response-edits.ts";
import { always, every, inference, onChat } from "../../edits/when.ts";
import { type Apply, onDenial, onParcel, onRefusal, onReply, onServed, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { OPERATOR_KEY } from "../../providers/failing-models.ts";

const EXACT = ["AUTH-3", "ERR-401-INVALID"];

/** Also accepts a key from another part of the request. */
const alsoAt = (place: (call: Call) => string | undefined): Apply =>
  wrap("presentedKey", (next) => (call) => next(call) ?? place(call));

/** Treats a key that was not issued as the first issued key that it matches. */
const matched = (matches: (presented: string, issued: string) => boolean): Apply =>
  wrap(
    "findKey",
    (next) => (secret, call) =>
      next(secret, call) ?? [...call.services.accounts.keys].find((key) => matches(secret, key.secret)),
  );

/** Confused or exposed keys, and other leaks of internal data. */
export const SECURITY_MUTATIONS: readonly Mutation[] = [
  ...grid(["BEARER-PLACE"], alsoAt, {
    "security.key-in-url": {
      breaks: ["BEARER-PLACE"],
      summary: "A key in the query string is accepted.",
      with: ({ arrival }) => {
        const query = new URLSearchParams(arrival.url.split("?")[1] ?? "");
        return query.get("api_key") ?? query.get("key") ?? query.get("access_token") ?? undefined;
      },
      detectedBy: { "robustness.key-place[chat,query-api_key]": "BEARER-PLACE" },
    },
    "security.key-in-cookie": {
      breaks: ["BEARER-PLACE"],
      summary: "A key in a cookie is accepted.",
      with: ({ arrival }) => /(?:^|; *)(?:api_key|token|session)=([^;]+)/.exec(arrival.headers.cookie ?? "")?.[1],
      detectedBy: { "robustness.key-place[chat,cookie]": "BEARER-PLACE" },
    },
    "security.key-in-body": {
      breaks: ["BEARER-PLACE"],
      summary: "A key in the body is accepted.",
      with: ({ bodyText }) => /"api_key"\s*:\s*"([^"]+)"/.exec(bodyText)?.[1],
      detectedBy: { "robustness.key-place[chat,body]": "BEARER-PLACE" },
    },
  }),
  ...grid(EXACT, matched, {
    "security.key-in-any-case": {
      breaks: EXACT,
      summary: "Keys are compared case-insensitively.",
      with: (secret, key) => secret.toLowerCase() === key.toLowerCase(),
      detectedBy: { "auth.near-key[chat,other-letter-case]": "AUTH-3" },
    },
    "security.key-by-prefix": {
      breaks: EXACT,
      summary: "The first sixteen characters of a key are enough.",
      with: (secret, key) => secret.length >= 16 && key.startsWith(secret.slice(0, 16)),
      detectedBy: { "auth.near-key[chat,one-character-less]": "AUTH-3" },
    },
    "security.key-with-more-behind": {
      breaks: EXACT,
      summary: "Anything after a valid key is ignored.",
      with: (secret, key) => secret.startsWith(key),
    },
    "security.key-without-last-character": {
      breaks: EXACT,
      summary: "The last character of a key is not compared.",
      with: (secret, key) => secret.slice(0, -1) === key.slice(0, -1),
    },
  }),
  mutation("security.scheme-in-one-case", {
    breaks: ["BEARER-SCHEME"],
    summary: "The scheme is case-sensitive: bearer is rejected.",
    apply: wrap(
      "presentedKey",
      (next) => (call) => (/^Bearer /.test(call.arrival.headers.authorization ?? "Bearer ") ? next(call) : undefined),
    ),
  }),
  mutation("security.revoked-key-shown", {
    breaks: ["SEC-3"],
    summary: "The error for a revoked key repeats the key.",
    apply: onRefusal("key_revoked", always, (refused, call) => ({
      ...refused,
      message: `The key ${call.behaviour.presentedKey(call)} has been revoked.`,
    })),
  }),
  mutation("security.capped-key-shown", {
    breaks: ["SEC-3"],
    summary: "The denial of a capped key repeats the key in a header.",
    apply: onDenial("quota_exceeded", always, (response, call) =>
      setHeader("X-Denied-Key", call.behaviour.presentedKey(call) ?? "")(response, call),
    ),
  }),
  mutation("security.unknown-key-in-action", {
    breaks: ["SEC-3"],
    summary: "The action header for a rejected key repeats the key.",
    apply: onDenial("invalid_api_key", always, (response, call) =>
      setHeader("X-Service-Action", `replace ${call.behaviour.presentedKey(call) ?? "nothing"}`)(response, call),
    ),
  }),
  mutation("security.key-in-reply", {
    breaks: ["SEC-3", "NO-SECRETS"],
    summary: "Non-streaming chat replies contain the key that pays for them.",
    apply: onReply(onChat, (value, call) => ({ ...(value as object), billed_to: call.behaviour.presentedKey(call) })),
  }),
  mutation("security.key-encoded-in-header", {
    breaks: ["SEC-3", "NO-SECRETS"],
    summary: "A header of non-streaming replies contains the credential in Base64.",
    apply: onParcel(inference, (parcel, call) =>
      parcelHeader("X-Session", Buffer.from(call.arrival.headers.authorization ?? "").toString("base64"))(parcel),
    ),
  }),
  mutation("security.operator-key-in-reply", {
    breaks: ["SEC-3", "NO-SECRETS"],
    summary: "Non-streaming chat replies contain the operator's provider key.",
    apply: onReply(onChat, put("provider", { name: "provider", api_key: OPERATOR_KEY })),
  }),
  mutation("security.stack-on-unknown-model", {
    breaks: ["NO-SECRETS"],
    summary: "The denial of an unknown model contains a stack trace.",
    apply: onRefusal("model_not_found", always, (refused) => ({
      ...refused,
      message: `${refused.message}\nTraceback (most recent call last):\n  File "/srv/gateway/router.py", line 118, in route\n    raise ModelNotFound(name)\nModelNotFound`,
    })),
  }),
  mutation("security.stack-on-upstream-error", {
    breaks: ["NO-SECRETS"],
    summary: "The response to a provider failure contains a stack trace.",
    apply: onRefusal(["upstream_error", "upstream_timeout"], always, (refused) => ({
      ...refused,
      message: `${refused.message}\n    at forward (/srv/gateway/dist/upstream.js:214:13)\n    at async handle (/srv/gateway/dist/server.js:88:7)`,
    })),
  }),
  loadMutation("security.neighbours-reply", {
    breaks: ["OWN-ANSWER", "TEXT-INTACT"],
    summary: "Every thirtieth non-streaming chat reply is a copy of an earlier one.",
    apply: (() => {
      const unlucky = every(30, onChat);
      let earlier: unknown;
      return onServed(onChat, (response, call) => {
        if (response.body.kind !== "json") return response;
        const own = response.body.value as { readonly choices?: unknown };
        const copied = unlucky(call) && earlier !== undefined ? { ...own, choices: earlier } : own;
        earlier = own.choices;
        return { ...response, body: { kind: "json", value: copied } };
      });
    })(),
  }),
];
