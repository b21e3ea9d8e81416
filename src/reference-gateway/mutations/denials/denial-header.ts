import { grid, type Mutation, mutation } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import {
  ACTION_HEADER,
  body,
  dropHeader,
  edits,
  REASON_HEADER,
  setHeader,
} from "../../edits/replies/response-edits.ts";
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
} from "../../edits/when.ts";
import { onDenial, type ResponseEdit } from "../../edits/wrap.ts";
import {
  DENIALS,
  REQUIREMENTS_OF_ALL_DENIALS,
  REQUIREMENTS_OF_INFERENCE_DENIALS,
  type Reason,
  requirementsOf,
} from "../../pipeline/refusal.ts";
import { headerOf } from "../../pipeline/response.ts";

const reasonMissing = (reasons: Reason | readonly Reason[], when: When) =>
  onDenial(reasons, when, dropHeader(REASON_HEADER));

const OTHERS = DENIALS.filter((reason) => reason !== "quota_exceeded");

/** Denials whose reason or action header is missing or wrong. */
export const DENIAL_HEADER_MUTATIONS: readonly Mutation[] = [
  ...grid(["ERR-HDR-1", "STREAM-2", ...REQUIREMENTS_OF_ALL_DENIALS], (when: When) => reasonMissing(DENIALS, when), {
    "denial.unnamed": {
      breaks: ["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS],
      summary: "No denial has a reason header.",
      with: always,
    },
    "denial.unnamed-on-messages": {
      breaks: ["ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
      summary: "Denials on the messages endpoint have no reason header.",
      with: onMessages,
    },
    "denial.unnamed-on-stream": {
      breaks: ["ERR-HDR-1", "STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
      summary: "Denials of streams have no reason header.",
      with: streaming,
    },
    "denial.unnamed-on-list": {
      breaks: ["ERR-HDR-1", "AUTH-2", "AUTH-3", "AUTH-4", "MODELS-5", "ERR-401-INVALID", "ERR-401-REVOKED"],
      summary: "Denials of the model list have no reason header.",
      with: onModels,
    },
    "denial.unnamed-on-reused-connections": {
      summary: "Denials on a reused connection have no reason header.",
      with: reused,
    },
    "denial.unnamed-now-and-then": { summary: "Every third denial has no reason header.", with: every(3, always) },
  }),
  ...grid([], (reason: Reason) => reasonMissing(reason, always), {
    "denial.quota-exceeded-unnamed": {
      breaks: ["ERR-HDR-1", ...requirementsOf("quota_exceeded")],
      summary: "Spend cap denials have no reason header.",
      with: "quota_exceeded",
    },
    "denial.insufficient-credits-unnamed": {
      breaks: ["ERR-HDR-1", ...requirementsOf("insufficient_credits")],
      summary: "Exhausted balance denials have no reason header.",
      with: "insufficient_credits",
    },
    "denial.budget-exhausted-unnamed": {
      breaks: ["ERR-HDR-1", ...requirementsOf("budget_exhausted")],
      summary: "Exhausted budget denials have no reason header.",
      with: "budget_exhausted",
    },
    "denial.model-not-found-unnamed": {
      breaks: ["ERR-HDR-1", ...requirementsOf("model_not_found")],
      summary: "Unknown model denials have no reason header.",
      with: "model_not_found",
    },
    "denial.rate-limit-exceeded-unnamed": {
      breaks: ["ERR-HDR-1", ...requirementsOf("rate_limit_exceeded")],
      summary: "Rate limit denials have no reason header.",
      with: "rate_limit_exceeded",
    },
    "denial.concurrency-limit-exceeded-unnamed": {
      breaks: ["ERR-HDR-1", ...requirementsOf("concurrency_limit_exceeded")],
      summary: "Concurrency limit denials have no reason header.",
      with: "concurrency_limit_exceeded",
    },
  }),
  ...grid(["ERR-HDR-1", ...REQUIREMENTS_OF_ALL_DENIALS], (edit: ResponseEdit) => onDenial(DENIALS, always, edit), {
    "denial.reason-in-body-only": {
      summary: "The reason is in error.code instead of the header.",
      with: (response, call) =>
        edits(body(put("error.code", response.refusal?.reason)), dropHeader(REASON_HEADER))(response, call),
      mayBreak: ["ERR-BODY-1"],
    },
    "denial.reason-header-renamed": {
      summary: "The reason header has a different name.",
      with: (response, call) =>
        edits(
          setHeader("X-Gateway-Error-Code", headerOf(response.headers, REASON_HEADER) ?? ""),
          dropHeader(REASON_HEADER),
        )(response, call),
    },
    "denial.reason-in-capitals": {
      summary: "The reason is in upper case.",
      with: (response, call) =>
        setHeader(REASON_HEADER, (response.refusal?.reason ?? "").toUpperCase())(response, call),
    },
    "denial.reason-is-status": {
      summary: "The reason header is the status code.",
      with: (response, call) => setHeader(REASON_HEADER, String(response.status))(response, call),
    },
    "denial.two-reasons": {
      summary: "Denials have a second, generic reason header before the correct one.",
      with: (response) => ({
        ...response,
        headers: [[REASON_HEADER, "request_denied"], ...response.headers],
      }),
    },
    "denial.no-action": {
      breaks: ["ERR-HDR-2", "ERR-HDR-3"],
      summary: "No denial has an action header.",
      with: dropHeader(ACTION_HEADER),
    },
  }),
  mutation("denial.reason-with-hyphens", {
    breaks: ["ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    summary: "The reason is written with hyphens on the chat endpoint.",
    apply: onDenial(DENIALS, onChat, (response, call) =>
      setHeader(REASON_HEADER, (response.refusal?.reason ?? "").replaceAll("_", "-"))(response, call),
    ),
  }),
  mutation("denial.reason-empty", {
    breaks: ["ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    summary: "The reason header is empty.",
    apply: onDenial(DENIALS, inference, setHeader(REASON_HEADER, "")),
  }),
  ...grid(["ERR-HDR-2"], (when: When) => onDenial("quota_exceeded", when, dropHeader(ACTION_HEADER)), {
    "denial.quota-without-action": { summary: "Spend cap denials have no action header.", with: always },
    "denial.quota-without-action-on-messages": {
      summary: "Spend cap denials have no action header on the messages endpoint.",
      with: onMessages,
    },
    "denial.quota-without-action-on-stream": {
      summary: "Spend cap denials have no action header for streams.",
      with: both(streaming, inference),
    },
  }),
  mutation("denial.quota-action-empty", {
    breaks: ["ERR-HDR-2"],
    summary: "The action header of spend cap denials is empty.",
    apply: onDenial("quota_exceeded", always, setHeader(ACTION_HEADER, "")),
  }),
  mutation("denial.quota-action-long", {
    breaks: ["ERR-HDR-2"],
    summary: "The action header of spend cap denials is a paragraph.",
    apply: onDenial(
      "quota_exceeded",
      always,
      setHeader(ACTION_HEADER, "Your key has reached the daily spend cap that was set for it. ".repeat(8).trim()),
    ),
  }),
  mutation("denial.action-on-quota-only", {
    breaks: ["ERR-HDR-3"],
    summary: "Only spend cap denials have an action header.",
    apply: onDenial(OTHERS, always, dropHeader(ACTION_HEADER)),
  }),
  mutation("denial.no-action-on-401", {
    breaks: ["ERR-HDR-3"],
    summary: "Rejected keys get no action header.",
    apply: onDenial(["invalid_api_key", "key_revoked"], always, dropHeader(ACTION_HEADER)),
  }),
  mutation("denial.action-empty-on-429", {
    breaks: ["ERR-HDR-3"],
    summary: "The action header of limits and budgets is empty.",
    apply: onDenial(
      ["rate_limit_exceeded", "concurrency_limit_exceeded", "budget_exhausted"],
      always,
      setHeader(ACTION_HEADER, ""),
    ),
  }),
  mutation("denial.no-action-on-list", {
    breaks: ["ERR-HDR-3"],
    summary: "Denials of the model list have no action header.",
    apply: onDenial(DENIALS, onModels, dropHeader(ACTION_HEADER)),
  }),
];
