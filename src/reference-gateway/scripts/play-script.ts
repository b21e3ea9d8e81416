import { type Apply, all, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { InferenceRequest } from "../pipeline/read/inference-request.ts";
import { refusal } from "../pipeline/refusal.ts";
import {
  type GatewayResponse,
  type Header,
  type Parcel,
  type Step,
  type StreamEvent,
  withHeader,
  withoutHeader,
} from "../pipeline/response.ts";
import { MODELS } from "../providers/model-table.ts";
import type { ReplyPlan } from "../providers/plan.ts";
import { textPlan } from "../providers/text-plan.ts";
import type { Script, ScriptedRequest, Turn } from "./script.ts";

/** Longer than any client's timeout. Milliseconds. */
const NEVER_MS = 3_600_000;

/** Maximum length of a response body kept for the script, characters. */
const KEPT_BODY = 64 * 1_024;

/** What is known about a request between its arrival and its end. */
interface Played {
  readonly request: ScriptedRequest;
  turn?: Turn;
  headers: readonly Header[];
  body: string;
  beganMs?: number;
}

/** Applies a script to a behaviour. Requests that the gateway itself refuses, and those for models, are only observed. */
export function playScript(script: Script): Apply {
  const known = new WeakMap<Call, Played>();
  const of = (call: Call): Played => {
    const before = known.get(call);
    if (before !== undefined) return before;
    const played: Played = { request: requestOf(call), headers: [], body: "" };
    known.set(call, played);
    return played;
  };
  return all(
    wrap("respond", (next) => (call) => {
      script.arrived?.(of(call).request);
      const response = next(call);
      const { turn } = of(call);
      if (turn === undefined || response instanceof Promise) return response;
      return turned(response, turn, call);
    }),
    // A client under test chooses its own model names; they are not what it is judged by.
    wrap("findModel", (next) => (id, call) => next(id, call) ?? MODELS[0]),
    // Called after the gateway has admitted the request: it handles invalid requests itself.
    wrap("plan", () => (_model, request, call) => {
      const turn = script.turn(of(call).request);
      of(call).turn = turn;
      return planOf(request, turn);
    }),
    wrap("seal", (next) => (response, call) => watched(next(response, call), response, of(call))),
    wrap("began", (next) => (call) => {
      of(call).beganMs = call.services.clock.monotonicUs() / 1_000;
      next(call);
    }),
    wrap("ended", (next) => (call, closing) => {
      next(call, closing);
      const { request, headers, body, beganMs } = of(call);
      script.ended?.(request, {
        status: closing.status,
        headers,
        body,
        reason: call.refused?.reason,
        beganMs,
        endedMs: call.services.clock.monotonicUs() / 1_000,
        outcome: closing.outcome,
      });
    }),
  );
}

function requestOf({ id, arrival, bodyText, wantsStream }: Call): ScriptedRequest {
  const { endpoint, method, url, rawHeaders, connection, arrivedUs, arrivedMs } = arrival;
  const headers: Header[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return {
    id,
    endpoint,
    method,
    url,
    headers,
    body: bodyText,
    stream: wantsStream,
    connectionId: connection.id,
    atMs: arrivedUs / 1_000,
    atWallMs: arrivedMs,
  };
}

function turned(response: GatewayResponse, turn: Turn, call: Call): GatewayResponse {
  switch (turn.do) {
    case "serve":
      return turn.cutAfter === undefined ? response : cutShort(response, turn.cutAfter);
    case "refuse": {
      const { reason, status, retryAfter, afterMs = 0 } = turn;
      const refused = call.behaviour.refuse(refusal(reason, status === undefined ? {} : { status }), call);
      const headers =
        retryAfter === undefined
          ? withoutHeader(refused.headers, "Retry-After")
          : withHeader(refused.headers, "Retry-After", retryAfter);
      return { ...refused, headers, afterMs };
    }
    case "redirect":
      return { status: 307, headers: [["Location", turn.to]], body: { kind: "none" }, afterMs: 0, outcome: "failed" };
    case "silence":
      return { ...response, body: { kind: "none" }, afterMs: NEVER_MS };
  }
}

/** Interrupts a stream: some pieces, then the connection is closed. */
function cutShort(response: GatewayResponse, pieces: number): GatewayResponse {
  if (response.body.kind !== "events") return response;
  return {
    ...response,
    body: { kind: "events", events: firstOf(response.body.events, pieces), ending: "abort" },
    outcome: "broken",
  };
}

function* firstOf(events: Iterable<StreamEvent>, pieces: number): Generator<StreamEvent> {
  let left = pieces;
  for (const event of events) {
    if (event.kind === "text") left -= 1;
    if (left < 0) return;
    yield event;
  }
}

/** A reply that takes as long as the turn specifies. The request's own limit does not shorten a reply that will be cut. */
function planOf(request: InferenceRequest, turn: Turn): ReplyPlan {
  const { text, lastsMs = 0, cutAfter } = turn.do === "serve" ? turn : { text: "" };
  const plan = textPlan(cutAfter === undefined ? request : { ...request, maxTokens: undefined }, text, AT_ONCE);
  const paceMs = lastsMs / Math.max(1, plan.pieces.length);
  return { ...plan, firstMs: paceMs, paceMs };
}

const AT_ONCE = { firstMs: 0, paceMs: 0 };

/** Records what is sent when it is sent, before compression. */
function watched(parcel: Parcel, { body }: GatewayResponse, played: Played): Parcel {
  played.headers = parcel.headers;
  if (parcel.body.kind === "whole") {
    if (body.kind === "json") played.body = JSON.stringify(body.value).slice(0, KEPT_BODY);
    return parcel;
  }
  if (parcel.body.kind === "relayed") return parcel;
  const { steps, ending } = parcel.body;
  return { ...parcel, body: { kind: "steps", ending, steps: noted(steps, played) } };
}

function* noted(steps: Iterable<Step>, played: Played): Generator<Step> {
  for (const step of steps) {
    yield step;
    // Reached when the next step is requested, so this one was written.
    if (played.body.length < KEPT_BODY && typeof step.bytes === "string") played.body += step.bytes;
  }
}
