import { type Check, defineCheck, type RequestSpec, type Response } from "../../../src/checks/index.ts";
import { type Dialect, type HeaderList, MODES } from "../../../src/dialects/index.ts";
import { aReply, type Expectation, isTrue, success, that, type Verdict } from "../../../src/judging/index.ts";
import type { Target } from "../../../src/target/index.ts";
import { hasOutput } from "../judge/has-output.ts";
import { judgeNonStreamingReply } from "../judge/judge-reply.ts";
import { assumeControl, sendControl } from "./control-request.ts";
import { SDK_REQUESTS, type SdkRequests } from "./sdk-headers.ts";

export const sdksOf = (dialect: Dialect): string[] =>
  SDK_REQUESTS.flatMap((sdk) => (sdk.dialect === dialect ? [sdk.name] : []));

/** The headers of an SDK, except those whose value the target file sets. */
export function sdkHeaders(
  { extraHeaders }: Pick<Target, "extraHeaders">,
  name: string,
  kind: keyof SdkRequests["headers"],
): HeaderList {
  const sdk = SDK_REQUESTS.find((one) => one.name === name);
  if (sdk === undefined) return [];
  const endpoint = kind === "models" ? kind : sdk.dialect;
  const fixed = [...extraHeaders.all, ...extraHeaders[endpoint]].map(([header]) => header.toLowerCase());
  return sdk.headers[kind].filter(([header]) => !fixed.includes(header.toLowerCase()));
}

const COVERED = {
  chat: ["CHAT-1", "CHAT-2", "CHAT-3", "BASE-3", "ERR-200-1"],
  messages: ["MSG-1", "MSG-2", "MSG-3", "COMPAT-MSG-STREAM", "ERR-200-1"],
} as const;

/** A valid request with the headers that the SDKs of a dialect send. */
export function servedAsSdksSend(dialect: Dialect): Check {
  return defineCheck({
    id: `${dialect}.as-sdks-send`,
    title: "A request with an SDK's headers is served like one without them",
    covers: COVERED[dialect],
    explains:
      "Sends a minimal request twice: with only the headers that the specification shows, which must be served, and with the headers that a current SDK sends: its User-Agent, `Accept: application/json` (also for streams), Accept-Encoding and X-Stainless headers. The second reply must be as complete as the first, and a stream if the first was a stream. A failure means that a rule on these headers, often in a proxy or firewall in front of the gateway, blocks real clients or changes what they get.",
    dialect,
    across: { mode: MODES, case: sdksOf(dialect) },
    cost: { requests: 3 },
    async run(t) {
      const request: RequestSpec = { endpoint: dialect };
      const kind = t.mode === "streaming" ? "streaming" : "nonStreaming";
      const headers = sdkHeaders(t.target, t.case, kind);
      return { control: await sendControl(t, request), response: await t.send({ ...request, headers }) };
    },
    judge({ control, response }, verdict, { mode, case: sdk }) {
      assumeControl(verdict, control);
      const because = `with the headers of ${sdk}: ${response.summary}`;
      if (mode === "streaming") judgeStream(verdict, control.control, response, because);
      else judgeNonStreamingReply(verdict, response, because);
    },
  });
}

function judgeStream(verdict: Verdict, control: Response, response: Response, because: string): void {
  // Streams of /messages are not in the specification; only clients rely on them.
  const say = <T>(observed: T, expected: NoInfer<T> | Expectation<T>, at?: string) => {
    const seen = { in: response, because, at };
    return response.requested.endpoint === "chat"
      ? verdict.must("BASE-3", observed, expected, seen)
      : verdict.compat("COMPAT-MSG-STREAM", observed, expected, seen);
  };
  if (!say(response.status, success, "status")) return;
  const what = control.streamed ? "a stream" : "one document";
  const asControl = that(`${what}, as without these headers`, (streamed: boolean) => streamed === control.streamed);
  if (!say(response.streamed, asControl)) return;
  if (!say(response.admitted, aReply)) return;
  if (hasOutput(control)) say(hasOutput(response), isTrue("output, as without these headers"));
}
