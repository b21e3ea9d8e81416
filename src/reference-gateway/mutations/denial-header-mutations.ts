import { type Mutation, mutation } from "../change.ts";
import {
  type Denial,
  REQUIREMENTS_OF_ALL_DENIALS,
  REQUIREMENTS_OF_DENIAL,
  REQUIREMENTS_OF_INFERENCE_DENIALS,
} from "../edits/denial-requirements.ts";
import { put } from "../edits/replies/json-edits.ts";
import { ACTION_HEADER, body, dropHeader, edits, REASON_HEADER, setHeader } from "../edits/replies/response-edits.ts";
import {
  always,
  both,
  every,
  inference,
  onChat,
  onMessages,
  onModels,
  reused,
  streaming,
  type When,
} from "../edits/when.ts";
import { DENIALS, onDenial } from "../edits/wrap.ts";
import type { Reason } from "../pipeline/refusal.ts";
import { headerOf } from "../pipeline/response.ts";

const reasonMissing = (reasons: Reason | readonly Reason[], when: When) =>
  onDenial(reasons, when, dropHeader(REASON_HEADER));

function missingFor(reason: Denial, summary: string): Mutation {
  return mutation(
    `denial.${reason.replaceAll("_", "-")}-unnamed`,
    ["ERR-HDR-1", ...REQUIREMENTS_OF_DENIAL[reason]],
    summary,
    reasonMissing(reason, always),
  );
}

const OTHERS = DENIALS.filter((reason) => reason !== "quota_exceeded");

/** Denials whose reason or action header is missing or wrong. */
export const DENIAL_HEADER_MUTATIONS: readonly Mutation[] = [
  mutation(
    "denial.unnamed",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
    "No denial has a reason header.",
    reasonMissing(DENIALS, always),
  ),
  mutation(
    "denial.unnamed-on-messages",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Denials on the messages endpoint have no reason header.",
    reasonMissing(DENIALS, onMessages),
  ),
  mutation(
    "denial.unnamed-on-stream",
    ["ERR-HDR-1", "STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Denials of streams have no reason header.",
    reasonMissing(DENIALS, streaming),
  ),
  mutation(
    "denial.unnamed-on-list",
    ["ERR-HDR-1", "AUTH-2", "AUTH-3", "AUTH-4", "MODELS-5", "ERR-401-INVALID", "ERR-401-REVOKED"],
    "Denials of the model list have no reason header.",
    reasonMissing(DENIALS, onModels),
  ),
  mutation(
    "denial.unnamed-on-reused-connections",
    ["ERR-HDR-1", "STREAM-2", ...REQUIREMENTS_OF_ALL_DENIALS],
    "Denials on a reused connection have no reason header.",
    reasonMissing(DENIALS, reused),
  ),
  mutation(
    "denial.unnamed-now-and-then",
    ["ERR-HDR-1", "STREAM-2", ...REQUIREMENTS_OF_ALL_DENIALS],
    "Every third denial has no reason header.",
    reasonMissing(DENIALS, every(3, always)),
  ),
  missingFor("quota_exceeded", "Spend cap denials have no reason header."),
  missingFor("insufficient_credits", "Exhausted balance denials have no reason header."),
  missingFor("budget_exhausted", "Exhausted budget denials have no reason header."),
  missingFor("model_not_found", "Unknown model denials have no reason header."),
  missingFor("rate_limit_exceeded", "Rate limit denials have no reason header."),
  missingFor("concurrency_limit_exceeded", "Concurrency limit denials have no reason header."),
  mutation(
    "denial.reason-in-body-only",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
    "The reason is in error.code instead of the header.",
    onDenial(DENIALS, always, (response, call) =>
      edits(body(put("error.code", response.refusal?.reason)), dropHeader(REASON_HEADER))(response, call),
    ),
  ),
  mutation(
    "denial.reason-header-renamed",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
    "The reason header has a different name.",
    onDenial(DENIALS, always, (response, call) =>
      edits(
        setHeader("X-Gateway-Error-Code", headerOf(response.headers, REASON_HEADER) ?? ""),
        dropHeader(REASON_HEADER),
      )(response, call),
    ),
  ),
  mutation(
    "denial.reason-in-capitals",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
    "The reason is in upper case.",
    onDenial(DENIALS, always, (response, call) =>
      setHeader(REASON_HEADER, (response.refusal?.reason ?? "").toUpperCase())(response, call),
    ),
  ),
  mutation(
    "denial.reason-with-hyphens",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "The reason is written with hyphens on the chat endpoint.",
    onDenial(DENIALS, onChat, (response, call) =>
      setHeader(REASON_HEADER, (response.refusal?.reason ?? "").replaceAll("_", "-"))(response, call),
    ),
  ),
  mutation(
    "denial.reason-is-status",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
    "The reason header is the status code.",
    onDenial(DENIALS, always, (response, call) => setHeader(REASON_HEADER, String(response.status))(response, call)),
  ),
  mutation(
    "denial.reason-empty",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "The reason header is empty.",
    onDenial(DENIALS, inference, setHeader(REASON_HEADER, "")),
  ),
  mutation(
    "denial.two-reasons",
    ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
    "Denials have a second, generic reason header before the correct one.",
    onDenial(DENIALS, always, (response) => ({
      ...response,
      headers: [[REASON_HEADER, "request_denied"], ...response.headers],
    })),
  ),
  mutation(
    "denial.quota-without-action",
    ["ERR-HDR-2"],
    "Spend cap denials have no action header.",
    onDenial("quota_exceeded", always, dropHeader(ACTION_HEADER)),
  ),
  mutation(
    "denial.quota-without-action-on-messages",
    ["ERR-HDR-2"],
    "Spend cap denials have no action header on the messages endpoint.",
    onDenial("quota_exceeded", onMessages, dropHeader(ACTION_HEADER)),
  ),
  mutation(
    "denial.quota-without-action-on-stream",
    ["ERR-HDR-2"],
    "Spend cap denials have no action header for streams.",
    onDenial("quota_exceeded", both(streaming, inference), dropHeader(ACTION_HEADER)),
  ),
  mutation(
    "denial.quota-action-empty",
    ["ERR-HDR-2"],
    "The action header of spend cap denials is empty.",
    onDenial("quota_exceeded", always, setHeader(ACTION_HEADER, "")),
  ),
  mutation(
    "denial.quota-action-long",
    ["ERR-HDR-2"],
    "The action header of spend cap denials is a paragraph.",
    onDenial(
      "quota_exceeded",
      always,
      setHeader(ACTION_HEADER, "Your key has reached the daily spend cap that was set for it. ".repeat(8).trim()),
    ),
  ),
  mutation(
    "denial.no-action",
    ["ERR-HDR-2", "ERR-HDR-3"],
    "No denial has an action header.",
    onDenial(DENIALS, always, dropHeader(ACTION_HEADER)),
  ),
  mutation(
    "denial.action-on-quota-only",
    ["ERR-HDR-3"],
    "Only spend cap denials have an action header.",
    onDenial(OTHERS, always, dropHeader(ACTION_HEADER)),
  ),
  mutation(
    "denial.no-action-on-401",
    ["ERR-HDR-3"],
    "Rejected keys get no action header.",
    onDenial(["invalid_api_key", "key_revoked"], always, dropHeader(ACTION_HEADER)),
  ),
  mutation(
    "denial.action-empty-on-429",
    ["ERR-HDR-3"],
    "The action header of limits and budgets is empty.",
    onDenial(
      ["rate_limit_exceeded", "concurrency_limit_exceeded", "budget_exhausted"],
      always,
      setHeader(ACTION_HEADER, ""),
    ),
  ),
  mutation(
    "denial.no-action-on-list",
    ["ERR-HDR-3"],
    "Denials of the model list have no action header.",
    onDenial(DENIALS, onModels, dropHeader(ACTION_HEADER)),
  ),
];
