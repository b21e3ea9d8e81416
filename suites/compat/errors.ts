import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { isObject, member } from "../../src/core/index.ts";
import { DIALECTS, listEntries, mediaType, requestId } from "../../src/dialects/index.ts";
import { aString, filledString, oneOf, that, type Verdict } from "../../src/judging/index.ts";
import { sendPastRate } from "../shared/requests/send-past-rate.ts";
import { inSeconds } from "./chat-stream.ts";
import { aJsonType, defineCompat } from "./define-compat.ts";

const envelopes = DIALECTS.map((dialect) =>
  defineCompat(dialect, {
    id: dialect === "chat" ? "compat.chat-errors" : "compat.messages-errors",
    title: `Errors on /${dialect === "chat" ? "chat/completions" : "messages"} are what the dialect's clients read`,
    covers: ["COMPAT-ERROR-BODY", "COMPAT-CONTENT-TYPE"],
    explains:
      "Sends requests that are denied or rejected in several ways, streaming and non-streaming, and triggers an upstream failure. Clients expect JSON with error.message; on /messages also the type `error` around it. Otherwise the user sees an error without a message.",
    schedule: { failsUpstream: true },
    cost: { requests: 8 },
    async run(t) {
      const request = { endpoint: dialect, intent: "denied" as const };
      const fails = await t.hasModel("upstreamError");
      const failing = fails ? [await sendPastRate(t, { ...request, model: "upstreamError" })] : [];
      return {
        errors: [
          await t.send({ ...request, key: null }),
          await t.send({ ...request, key: null, mode: "streaming" }),
          await t.send({ ...request, model: "unknown" }),
          await t.send({ ...request, model: "unknown", mode: "streaming" }),
          await t.send({ ...request, intent: "invalid", omit: ["messages"] }),
          await t.send({ ...request, intent: "invalid", rawBody: '{"model":' }),
          ...failing,
        ],
      };
    },
    judge({ errors }, verdict) {
      for (const response of errors) {
        if ((response.status ?? 0) < 400) continue;
        const seen = { in: response };
        verdict.compat("COMPAT-CONTENT-TYPE", mediaType(response.headers), aJsonType, {
          ...seen,
          at: "Content-Type",
        });
        const error = member(response.json, "error");
        if (!verdict.compat("COMPAT-ERROR-BODY", error, that("an object", isObject), { ...seen, at: "/error" }))
          continue;
        verdict.compat("COMPAT-ERROR-BODY", member(error, "message"), filledString, { ...seen, at: "/error/message" });
        const type = member(error, "type");
        verdict.compat(
          "COMPAT-ERROR-BODY",
          type,
          that(
            "a text that says something",
            (value) => typeof value === "string" && !["", "None", "null", "undefined"].includes(value),
          ),
          { ...seen, at: "/error/type" },
        );
        if (dialect === "messages")
          verdict.compat("COMPAT-ERROR-BODY", member(response.json, "type"), "error", { ...seen, at: "/type" });
      }
      if (verdict.findings.length === 0) verdict.notApplicable("nothing was refused");
    },
  }),
);

const streamErrors = DIALECTS.map((dialect) =>
  defineCompat(dialect, {
    id: dialect === "chat" ? "compat.chat-stream-error" : "compat.messages-stream-error",
    title: "A mid-stream failure is never reported as completion",
    covers: ["COMPAT-STREAM-ERROR"],
    explains:
      "The upstream interrupts the stream. Clients must be able to notice: by an error event of the dialect, or by an abnormal close. A clean ending with an end marker or a finish reason makes a partial reply look complete.",
    needs: ["model.cutStream"],
    cost: { requests: 3 },
    async run(t) {
      const request = {
        endpoint: dialect,
        model: "cutStream",
        mode: "streaming",
        intent: "invalid",
        bounds: { idleMs: 12_000 },
      } as const;
      return { cuts: [await sendPastRate(t, request), await sendPastRate(t, request), await sendPastRate(t, request)] };
    },
    judge({ cuts }, verdict) {
      for (const response of cuts) {
        if ((response.status ?? 500) >= 300) continue;
        judgeCut(response, dialect, verdict);
      }
      if (verdict.findings.length === 0) verdict.notApplicable("the failing model did not begin a stream");
    },
  }),
);

/** Finish reasons outside both dialects that some gateways use to say that a reply is incomplete. */
const SAYS_FAILURE = /error|fail|abort|interrupt|incomplete/i;

function judgeCut(response: Response, dialect: "chat" | "messages", verdict: Verdict): void {
  const { endMarkers, finishReasons, errors, events } = response.stream;
  const seen = { in: response };
  if (response.exchange.ending.kind === "idle-timeout" || response.exchange.ending.kind === "deadline") {
    verdict.compat("COMPAT-STREAM-ERROR", response.exchange.ending.kind, oneOf("complete", "reset"), {
      ...seen,
      because: "the broken stream stays open",
    });
  }
  // Such a reason is as clear as an error event. [DONE] after either is harmless.
  const failed = finishReasons.filter((reason) => SAYS_FAILURE.test(reason));
  const done = errors.length + failed.length === 0 && endMarkers > 0;
  verdict.compat("COMPAT-STREAM-ERROR", done || finishReasons.length > failed.length, false, {
    ...seen,
    because: "a broken stream with the ending of a complete one",
  });
  const signalled =
    errors.length > 0 ||
    response.exchange.ending.kind === "reset" ||
    response.exchange.ending.kind === "protocol-error";
  verdict.compat("COMPAT-STREAM-ERROR", !(signalled || done || finishReasons.length > 0), false, {
    ...seen,
    because: "neither an error event nor an abnormal close",
  });
  const event = events.find(({ json }) => isObject(member(json, "error")) || member(json, "type") === "error");
  if (errors.length === 0) return;
  const message = member(member(event?.json, "error"), "message");
  verdict.compat("COMPAT-STREAM-ERROR", message, filledString, {
    ...seen,
    at: "/error/message",
    because: "the error event's text",
  });
  if (dialect === "messages") {
    verdict.compat("COMPAT-STREAM-ERROR", event?.name, "error", {
      ...seen,
      at: "event",
      because: "error events have that name",
    });
    verdict.compat("COMPAT-STREAM-ERROR", member(event?.json, "type"), "error", { ...seen, at: "/type" });
  } else {
    verdict.compat(
      "COMPAT-STREAM-ERROR",
      member(event?.json, "type"),
      that("no type around the error", (value) => value !== "error"),
      { ...seen, at: "/type", because: "the other dialect's shape" },
    );
  }
}

const modelList = defineCompat("chat", {
  id: "compat.models",
  title: "The model list is readable by OpenAI clients",
  covers: ["COMPAT-MODELS", "COMPAT-CONTENT-TYPE"],
  explains:
    "Where the list and its entries state their type, it must be an object `list` with entries of object `model`; where entries have `created` and `owned_by`, these must be seconds and a string. Pickers and SDKs sort and filter by them where they exist.",
  cost: { requests: 1 },
  async run(t) {
    return { list: await t.send({ endpoint: "models" }) };
  },
  judge({ list }, verdict) {
    verdict.requireControl(list, "the model list");
    const at = (pointer: string) => ({ in: list, at: pointer });
    verdict.compat("COMPAT-CONTENT-TYPE", mediaType(list.headers), aJsonType, at("Content-Type"));
    const there = (value: unknown, expected: unknown, pointer: string) => {
      if (value !== undefined) verdict.compat<unknown>("COMPAT-MODELS", value, expected, at(pointer));
    };
    there(member(list.json, "object"), "list", "/object");
    for (const [index, entry] of listEntries(list.json).entries()) {
      there(member(entry, "object"), "model", `/data/${index}/object`);
      there(member(entry, "created"), inSeconds, `/data/${index}/created`);
      there(member(entry, "owned_by"), aString, `/data/${index}/owned_by`);
    }
  },
});

const requestIds = defineInvariant({
  id: "compat.request-ids",
  title: "Request ids differ from request to request",
  covers: ["COMPAT-REQUEST-ID", "REQID-1"],
  explains:
    'The specification mentions an id "if available". If sent, it should be unique, so that a support request can quote it. Which responses carry one is recorded.',
  judge(responses, verdict) {
    const received = responses.filter(({ status }) => status !== undefined);
    if (received.length === 0) return verdict.inconclusive("no response arrived");
    const withId = received.flatMap((response) => {
      const id = requestId(response.headers);
      return id === undefined ? [] : [{ response, id }];
    });
    verdict.observe("REQID-1", `${withId.length} of ${received.length} responses carry a request id`);
    if (withId.length < 2) return verdict.notApplicable("responses carry no request ids");
    const seen = new Set<string>();
    const repeated = withId.filter(({ id }) => seen.size === seen.add(id).size);
    verdict.compat("COMPAT-REQUEST-ID", repeated.length, 0, {
      in: repeated[0]?.response,
      because: `ids (of ${withId.length}) that were seen before`,
    });
  },
});

export const ERROR_COMPAT: readonly Check[] = [...envelopes, ...streamErrors, modelList, requestIds];
