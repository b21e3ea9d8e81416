import {
  type BodyFact,
  type Check,
  defineInvariant,
  isStale,
  type Response,
  variantOf,
} from "../../src/checks/index.ts";
import { wilson } from "../../src/core/index.ts";
import { mediaType } from "../../src/dialects/index.ts";
import { atMost, type Verdict } from "../../src/judging/index.ts";
import { isCutByUs } from "../shared/judge/cut-by-us.ts";
import { counts } from "./counts.ts";

/** Responses that nobody truncated on purpose, neither we nor the provider. */
function untouched(responses: readonly Response[]): Response[] {
  return responses.filter(
    (response) => response.exchange.ending.kind !== "aborted" && !isStale(response.exchange) && !isCutByUs(response),
  );
}

/** Requires that no response is bad. @param what completes the subject "responses that …". */
function requireNone(
  verdict: Verdict,
  requirement: Parameters<Verdict["must"]>[0],
  bad: readonly Response[],
  all: number,
  what: string,
): void {
  verdict.must(requirement, bad.length, 0, {
    in: bad[0],
    also: bad.slice(1),
    because: `responses (of ${all}) that ${what}`,
  });
}

/** One failure may be caused by the network; a second one is the gateway's. */
const TOLERATED = 1;
/** A provider may interrupt this share of many streams. */
const CUT_SHARE = 0.005;

const isServedStream = ({ status = 0, requested }: Response): boolean =>
  status >= 200 && status < 300 && requested.mode === "streaming";

const framing = defineInvariant({
  id: "robustness.framing",
  title: "Every response is one well-framed HTTP message",
  covers: ["HTTP-FRAMING", "STEADY-SERVICE", "HTTP-INTERIM"],
  explains:
    "Checks every response of the run: an HTTP parser must accept it, its length must be as declared, and nothing may follow it. Streams that a provider was made to interrupt are excluded; up to one other truncated stream in two hundred is a warning.",
  judge(responses, verdict) {
    const seen = untouched(responses);
    if (seen.length === 0) return verdict.inconclusive("nothing was sent");
    requireNone(
      verdict,
      "HTTP-FRAMING",
      seen.filter(({ exchange }) => exchange.ending.kind === "protocol-error"),
      seen.length,
      "are not HTTP/1.1",
    );
    requireNone(
      verdict,
      "HTTP-FRAMING",
      seen.filter(({ exchange }) => exchange.afterwards !== undefined),
      seen.length,
      "are followed by bytes that belong to no message",
    );
    const cut = seen.filter(
      ({ exchange, status, requested }) =>
        exchange.ending.kind === "reset" && status !== undefined && requested.intent !== "invalid",
    );
    const streams = seen.filter(isServedStream);
    const cutStreams = cut.filter(isServedStream);
    const what = "ended before the message was complete";
    // If a provider interrupts a reply, a gateway can only close the connection.
    const areFew = cutStreams.length <= Math.max(TOLERATED, streams.length * CUT_SHARE);
    const others = cut.filter((response) => !isServedStream(response));
    requireNone(verdict, "HTTP-FRAMING", areFew ? others : cut, seen.length, what);
    if (areFew)
      verdict.should("STEADY-SERVICE", cutStreams.length, 0, {
        in: cutStreams[0],
        because: `streams (of ${streams.length}) that ${what}`,
      });
    const stuck = seen.filter(
      ({ exchange, status, requested }) =>
        exchange.ending.kind === "idle-timeout" &&
        status !== undefined &&
        requested.mode === "non-streaming" &&
        requested.intent !== "invalid",
    );
    requireNone(verdict, "HTTP-FRAMING", stuck, seen.length, "are shorter than declared");
    const floods = seen.filter(({ exchange }) => (exchange.response?.interim.length ?? 0) > 20);
    verdict.should("HTTP-INTERIM", floods.length, 0, {
      in: floods[0],
      because: "responses with more than 20 interim responses before them",
    });
  },
});

const bodies = defineInvariant({
  id: "robustness.body-encoding",
  title: "Bodies are what their labels say: coded, UTF-8, JSON",
  covers: ["HTTP-CODING", "JSON-UTF8", "JSON-TEXT"],
  explains:
    "Checks every complete response of the run. A declared content coding must be applied, JSON and event streams must be UTF-8, and a body labelled JSON must parse.",
  judge(responses, verdict) {
    const complete = responses.filter(({ complete }) => complete);
    if (complete.length === 0) return verdict.inconclusive("no response was complete");
    requireNone(
      verdict,
      "HTTP-CODING",
      complete.filter(({ exchange }) => exchange.response?.body.decodeError !== undefined),
      complete.length,
      "do not decode",
    );
    const text = complete.filter(
      ({ headers }) => /json|event-stream/.test(mediaType(headers)) || mediaType(headers) === "",
    );
    requireNone(
      verdict,
      "JSON-UTF8",
      text.filter(({ exchange }) => exchange.response?.body.base64 !== undefined),
      text.length,
      "are not valid UTF-8",
    );
    const json = complete.filter(
      (response) => /^application\/(?:.*\+)?json$/.test(mediaType(response.headers)) && mayBeJson(response),
    );
    requireNone(
      verdict,
      "JSON-TEXT",
      json.filter((response) => !response.isJson),
      json.length,
      "are labelled as JSON and are not",
    );
  },
});

/** A stream labelled as JSON is for the streaming checks; a response to HEAD has no body. */
function mayBeJson(response: Response): boolean {
  const { request, response: received } = response.exchange;
  if (request.method === "HEAD" || received?.status === 204 || received?.body.bytes === 0) return false;
  return response.isJson || !["event-stream", "json-objects"].includes(response.stream.framing);
}

/** Patterns of stack traces in the languages that gateways are written in. */
const TRACES = [
  /\n\s+at [^\n]+\([^\n]*:\d+(?::\d+)?\)/,
  /\\n\s+at [^\n"]+:\d+:\d+/,
  /Traceback \(most recent call last\)/,
  /File \\?"[^"\n]+\\?", line \d+/,
  /goroutine \d+ \[/,
  /\bat [\w.$]+\([\w]+\.java:\d+\)/,
  /panicked at [^\n]+\.rs:\d+/,
];

/** Patterns of credentials of well-known providers. */
const CREDENTIALS = [
  /\bsk-(?:ant-|proj-|or-|live-|test-|svcacct-)?[A-Za-z0-9_-]{16,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bAIza[0-9A-Za-z_-]{30,}/,
  /\bBearer [A-Za-z0-9._~+/-]{20,}/,
  /\bxox[bp]-[A-Za-z0-9-]{20,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:postgres|mysql|redis|mongodb)(?:ql)?:\/\/[^\s:"]+:[^\s@"]+@/,
];

const secrets = defineInvariant({
  id: "robustness.no-secrets",
  title: "No response contains stack traces or the operator's credentials",
  covers: ["NO-SECRETS", "ERR-5XX-2"],
  explains:
    "Searches headers and bodies of all responses for stack traces, for strings that look like provider keys, and for connection strings. Upstream errors passed on verbatim are the usual source.",
  judge(responses, verdict) {
    const received = responses.filter(({ status }) => status !== undefined);
    if (received.length === 0) return verdict.inconclusive("no response arrived");
    const traced = received.filter((response) => (response.status ?? 0) >= 400 && response.fact(hasTrace));
    verdict.should("NO-SECRETS", traced.length, 0, { in: traced[0], because: "responses with a stack trace" });
    const leaking = received.filter(showsCredential);
    verdict.should("NO-SECRETS", leaking.length, 0, {
      in: leaking[0],
      because: "responses with something like a credential",
    });
    const inside = received.filter((response) => (response.status ?? 0) >= 500 && response.fact(namesInside));
    verdict.observe("ERR-5XX-2", `${inside.length} server errors name internal addresses`, { in: inside[0] });
  },
});

const hasTrace: BodyFact<boolean> = ({ text }) => TRACES.some((pattern) => pattern.test(text));

const hasCredential = (text: string): boolean => CREDENTIALS.some((pattern) => pattern.test(text));

const bodyHasCredential: BodyFact<boolean> = ({ text }) => hasCredential(text);

const namesInside: BodyFact<boolean> = ({ text }) =>
  /\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3}\b|\.internal\b|\.svc\.cluster/.test(text);

/** Whether a header or the body contains a credential that we did not send. */
function showsCredential(response: Response): boolean {
  const mayHave = response.fact(bodyHasCredential) || hasCredential(JSON.stringify(response.headers));
  return mayHave && hasCredential(textWithoutOurs(response));
}

/** A response without the text that we sent: other checks judge echoes of our prompt or of an invented key. */
function textWithoutOurs({ headers, text, exchange }: Response): string {
  const sent = exchange.request.headers
    .map(([, value]) => value.replace(/^\w+ /, ""))
    .filter((value) => value.length >= 16);
  return sent.reduce((all, value) => all.replaceAll(value, ""), `${JSON.stringify(headers)} ${text}`);
}

const inTime = defineInvariant({
  id: "robustness.answer-in-time",
  title: "Responses that need no upstream arrive in time",
  covers: ["ANSWER-IN-TIME"],
  explains:
    "Every denial and rejection of the run should get a complete response. One that hangs holds a connection of the caller, and a place in the gateway's concurrency limit, for nothing.",
  judge(responses, verdict) {
    const quick = untouched(responses).filter(
      ({ requested, exchange }) =>
        requested.intent !== "valid" && requested.intent !== "any" && exchange.ending.kind !== "unreachable",
    );
    if (quick.length === 0) return verdict.inconclusive("nothing was denied or refused");
    const late = quick.filter(
      ({ exchange, status }) =>
        exchange.ending.kind === "deadline" || (exchange.ending.kind === "idle-timeout" && (status ?? 0) >= 400),
    );
    verdict.should("ANSWER-IN-TIME", late.length, 0, {
      in: late[0],
      because: `requests (of ${quick.length}) without a response in time`,
    });
  },
});

/**
 * Share of valid requests that may fail by chance, and the number of failures that proves more: of few requests one is a large
 * share.
 */
const STRAY_SHARE = 0.005;
const MIN_STRAYS = 3;
const CONFIDENCE = 0.95;

/** Requests without a reply that were served at another time. Truncated replies are for `robustness.framing`. */
function straysAmong(failed: readonly Response[], valid: readonly Response[]): Response[] {
  if (failed.length === 0) return [];
  const served = new Set(valid.filter(({ admitted }) => admitted).map(({ exchange }) => variantOf(exchange)));
  return failed.filter(({ status = 599, exchange }) => status >= 500 && served.has(variantOf(exchange)));
}

const stable = defineInvariant({
  id: "robustness.stable-service",
  title: "Valid requests are served every time",
  covers: ["BASE-3", "STEADY-SERVICE"],
  explains:
    "Checks all valid requests of the run that ended with a server error, a reset or no response. A failure that does not recur for the same request is sporadic: its check is run once more, and the failure counts here. Any sporadic failure is a warning, because callers see each of them; if their share is certainly above 0.5 % (95 % interval), the gateway fails.",
  judge(responses, verdict) {
    const good = untouched(responses).filter(({ requested }) => requested.intent === "valid");
    if (good.length === 0) return verdict.inconclusive("no valid request was sent");
    const failed = good.filter(({ status, complete }) => status === undefined || status >= 500 || !complete);
    const strays = straysAmong(failed, good);
    const { low } = wilson({ count: strays.length, of: good.length }, CONFIDENCE);
    verdict.must("BASE-3", strays.length >= MIN_STRAYS && low > STRAY_SHARE, false, {
      in: strays[0],
      because: `${strays.length} of ${good.length} valid requests failed, and others like them were served: certainly more than 0.5 %`,
    });
    verdict.should("STEADY-SERVICE", failed.length, strays.length > 0 ? 0 : atMost(TOLERATED), {
      in: failed[0],
      because: `valid requests (of ${good.length}) that failed${failed[0] === undefined ? "" : ` (the first: ${failed[0].summary})`}`,
    });
  },
});

const reasonOnSuccess = defineInvariant({
  id: "robustness.reason-on-success",
  title: "A success carries no denial reason",
  covers: ["REASON-ON-SUCCESS"],
  explains: "Clients that read the reason header, as the specification requires, would take the success for a denial.",
  judge(responses, verdict) {
    const served = responses.filter(({ admitted }) => admitted);
    if (served.length === 0) return verdict.inconclusive("nothing was served");
    const named = served.filter(({ reason }) => reason !== undefined && reason !== "");
    verdict.should("REASON-ON-SUCCESS", named.length, 0, {
      in: named[0],
      at: "reason",
      because: `of ${served.length} successful responses`,
    });
  },
});

export const INVARIANTS: readonly Check[] = [framing, bodies, secrets, counts, inTime, stable, reasonOnSuccess];
