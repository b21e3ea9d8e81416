import { type Check, defineCheck, type RequestSpec, type Response, unblockLines } from "../../src/checks/index.ts";
import { DIALECTS, MODES } from "../../src/dialects/index.ts";
import { serverError, success, that, type Verdict } from "../../src/judging/index.ts";
import { DENIALS } from "../../src/requirements/index.ts";
import { assumeControl, sendControl } from "../shared/requests/control-request.ts";
import { sendPastRate } from "../shared/requests/send-past-rate.ts";
import { LONG_STORY } from "../shared/requests/texts.ts";

const NAMED: readonly string[] = DENIALS.map(({ reason }) => reason);

const notACallersReason = that("no reason that blames the caller", (value) => !NAMED.includes(String(value)));

const upstreamFailure = defineCheck({
  id: "errors.upstream-failure",
  title: "An upstream failure is a 5xx",
  covers: ["ERR-5XX-1", "ERR-5XX-2"],
  explains:
    "Calls a model whose upstream fails. The gateway could not complete the request, so the status must be 5xx: not an empty success, not a denial that blames the caller, not a dropped connection. A stream must not begin with 200 either if there is only the failure to send; how a stream that already had output must end is not specified (STREAM-6) and is not judged here. Which 5xx it is, and its body, are only observed.",
  needs: ["model.upstreamError"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 4 },
  async run(t) {
    const control = await sendControl(t);
    const failed: Response[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      failed.push(await sendPastRate(t, { model: "upstreamError", intent: "denied" }));
    }
    return { control, failed };
  },
  judge({ control, failed }, verdict) {
    assumeControl(verdict, control);
    for (const response of failed) judgeUpstream(response, "models.upstreamError", verdict);
  },
});

/** How much of a stream may be lost with its connection: some characters, and a share of what arrived. */
const LOST = { characters: 40, share: 0.1 };

/** Whether a reply is no more than what arrived before a stream was interrupted, plus what may have been lost. */
function endsThere(reply: string, before: string): boolean {
  const most = before.length * (1 + LOST.share) + LOST.characters;
  return before.startsWith(reply) || (reply.startsWith(before) && reply.length <= most);
}

const cutReply = defineCheck({
  id: "errors.upstream-cut",
  title: "A reply truncated by the provider is not passed on as complete",
  covers: ["ERR-5XX-1"],
  explains:
    "Calls the model whose upstream truncates its replies, streaming and non-streaming. Where the stream was interrupted, the non-streaming form must not be a success with only the text before the break: the gateway could not complete the request.",
  needs: ["model.cutStream"],
  across: { dialect: DIALECTS },
  cost: { requests: 4, waitS: 5 },
  async run(t) {
    const request: RequestSpec = { model: "cutStream", prompt: LONG_STORY, intent: "invalid" };
    const cut = await sendPastRate(t, { ...request, mode: "streaming", bounds: { idleMs: 12_000 } });
    return {
      cut,
      replies: [
        await sendPastRate(t, { ...request, mode: "non-streaming" }),
        await sendPastRate(t, { ...request, mode: "non-streaming" }),
      ],
    };
  },
  judge({ cut, replies }, verdict) {
    const broke = cut.stream.errors.length > 0 || !cut.complete;
    const before = cut.stream.text ?? "";
    if (!broke || before === "")
      return verdict.notApplicable(`the stream was not interrupted after some text (${cut.summary})`);
    if (replies.every(({ status }) => status === undefined)) return verdict.inconclusive(replies[0]?.summary ?? "");
    for (const nonStreaming of replies) {
      const got = nonStreaming.replyText ?? "";
      const half = success.test(nonStreaming.status) && got !== "" && endsThere(got, before);
      verdict.must("ERR-5XX-1", half, false, {
        in: nonStreaming,
        because: "the non-streaming reply ends where the stream was interrupted",
      });
    }
  },
});

const upstreamTimeout = defineCheck({
  id: "errors.upstream-timeout",
  title: "An upstream timeout is a 5xx",
  covers: ["ERR-5XX-1", "ERR-5XX-2", "UPSTREAM-TIMEOUT"],
  explains:
    "Calls a model whose upstream does not respond. The gateway must time out and send a 5xx. No response within the harness's own limit (timeouts.responseS) is a warning: the specification names no time.",
  needs: ["model.upstreamTimeout"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 2, waitS: 2 },
  async run(t) {
    const control = await sendControl(t);
    const bounds = { deadlineMs: t.target.timeouts.responseMs, idleMs: t.target.timeouts.responseMs };
    return {
      control,
      failed: await sendPastRate(t, { model: "upstreamTimeout", intent: "denied", bounds }),
      // The embedded gateway's models are known to behave as named.
      isAsserted: t.target.source !== "embedded",
    };
  },
  judge({ control, failed, isAsserted }, verdict) {
    assumeControl(verdict, control);
    const text = failed.admitted ? (failed.replyText?.trim() ?? "") : "";
    if (isAsserted && text !== "")
      verdict.missingFixture(
        `models.upstreamTimeout does not time out: it responded with ${failed.status} after ${Math.round(failed.durationMs)} ms with ${JSON.stringify(text.slice(0, 60))}`,
        unblockLines("model.upstreamTimeout"),
      );
    const stillWaiting = failed.exchange.ending.kind === "deadline" && failed.status === undefined;
    const seconds = Math.round(failed.durationMs / 1_000);
    if (stillWaiting) {
      verdict.should("UPSTREAM-TIMEOUT", failed.summary, serverError, {
        in: failed,
        at: "status",
        because: `the gateway did not time out within ${seconds} s`,
      });
      return;
    }
    // Any other response is judged as an unreported failure.
    if (serverError.test(failed.status))
      verdict.should("UPSTREAM-TIMEOUT", failed.status, serverError, {
        in: failed,
        at: "status",
        because: `the gateway responded after ${seconds} s`,
      });
    judgeUpstream(failed, "models.upstreamTimeout", verdict);
  },
});

/** Whether a stream that already had output ended with an error, or not at all: its status was correct when it was sent. */
function wasInterrupted({ status, streamed, stream, complete }: Response): boolean {
  return success.test(status) && streamed && stream.outputs > 0 && (stream.errors.length > 0 || !complete);
}

function judgeUpstream(response: Response, model: string, verdict: Verdict): void {
  if (wasInterrupted(response)) {
    verdict.markUndecided("blocked", `${model} fails in the middle of its streams: ${response.summary}`);
    return;
  }
  verdict.must("ERR-5XX-1", response.status, serverError, { in: response, at: "status" });
  verdict.must("ERR-5XX-1", response.reason, notACallersReason, { in: response, at: "reason" });
  const { envelope, type, code } = response.error;
  verdict.observe(
    "ERR-5XX-2",
    { status: response.status, reason: response.reason, envelope, type, code },
    { in: response },
  );
}

export const UPSTREAM_FAILURES: readonly Check[] = [upstreamFailure, cutReply, upstreamTimeout];
