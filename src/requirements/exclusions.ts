import type { RequirementId } from "./requirements.ts";

/** Why no check judges a requirement. */
export interface Exclusion {
  readonly requirement: RequirementId;
  /**
   * `client`: the requirement binds clients, so the harness itself is tested for it. `not-observable`: this interface does not
   * show it. `outside`: it lies outside the interface.
   */
  readonly kind: "client" | "not-observable" | "outside";
  readonly reason: string;
  /** Test file that covers the requirement, for client requirements. */
  readonly test?: string;
}

const client = (requirement: RequirementId, test: string, reason: string): Exclusion => ({
  requirement,
  kind: "client",
  reason,
  test,
});

/** Requirements without a check, each with its reason. A requirement that is neither checked nor here fails the build. */
export const EXCLUSIONS: readonly Exclusion[] = [
  client("CHAT-8", "test/dialects/readers.test.ts", "addresses are built from bases with and without a slash"),
  client("MSG-12", "test/dialects/readers.test.ts", "a bare host gets /v1/messages, a base with /v1 keeps it once"),
  client("MSG-13", "test/dialects/readers.test.ts", "text is gathered from text blocks only"),
  client("STREAM-7", "test/dialects/event-stream.test.ts", "the same bytes cut at every place give the same events"),
  client("ERR-STATUS-1", "test/dialects/classify.test.ts", "status decides, then the reason"),
  client("ERR-BODY-4", "test/dialects/classify.test.ts", "a code in the body decides nothing"),
  client("ERR-BODY-5", "test/dialects/classify.test.ts", "error bodies of any shape are survived"),
  client("LIMIT-3", "test/checks/harness-rules.test.ts", "without limits in the target, limit checks are blocked"),
  client("LIMIT-4", "test/checks/harness-rules.test.ts", "no verdict depends on headers that are optional"),
  client("HIST-2", "test/checks/harness-rules.test.ts", "the record says: attempts may be missing from the history"),
  client("RETRY-12", "test/checks/harness-rules.test.ts", "first responses only: no retries, no redirects"),
  client("CLIENT-1", "test/checks/harness-rules.test.ts", "an automatic model id is taken verbatim from the list"),
  client("CLIENT-2", "test/checks/harness-rules.test.ts", "every POST has a JSON body and says so"),
  client("CLIENT-3", "test/checks/harness-rules.test.ts", "exactly one Authorization header"),
  client("CLIENT-4", "test/checks/harness-rules.test.ts", "the version header on every request to /messages"),
  client("CLIENT-5", "test/checks/harness-rules.test.ts", "the list is fetched without a body"),
  client("CLIENT-6", "test/checks/harness-rules.test.ts", "request ids are kept with the exchange"),
  client("CLIENT-7", "test/checks/harness-rules.test.ts", "no system item inside messages, save in the probe of it"),
  client("SEC-1", "test/cli/canary.test.ts", "canary keys are searched in all that is printed and written"),
  client("SEC-2", "test/target/file/load-target.test.ts", "keys come by reference; literal ones are refused"),
  client("RETRY-1", "test/load/schedule/retry-rules.test.ts", "waits as long as Retry-After states"),
  client(
    "RETRY-2",
    "test/load/schedule/retry-rules.test.ts",
    "backoff with jitter and a bound without a usable Retry-After",
  ),
  client("RETRY-3", "test/load/schedule/retry-rules.test.ts", "one attempt on bad credentials"),
  client("RETRY-4", "test/load/schedule/retry-rules.test.ts", "one attempt on spending denials"),
  client(
    "RETRY-5",
    "test/load/schedule/retry-rules.test.ts",
    "one attempt on an exhausted budget, whatever Retry-After says",
  ),
  client(
    "RETRY-6",
    "test/load/schedule/retry-rules.test.ts",
    "parallelism falls after a concurrency denial, and rises again only later",
  ),
  client("RETRY-7", "test/load/schedule/retry-rules.test.ts", "a time-out is uncertain and not repeated"),
  client("RETRY-13", "test/load/schedule/retry-rules.test.ts", "a time-out is uncertain and not repeated"),
  client("RETRY-14", "test/load/schedule/retry-rules.test.ts", "a retry comes when the Retry-After wait is over"),
  client("RETRY-8", "test/load/schedule/retry-rules.test.ts", "a retried stream is another generation"),
  client("RETRY-9", "test/load/schedule/retry-rules.test.ts", "bounded attempts on 5xx"),
  client("RETRY-10", "test/load/schedule/retry-rules.test.ts", "one attempt on an unknown model"),
  client(
    "RETRY-11",
    "test/load/schedule/retry-rules.test.ts",
    "numbers of retries are options with documented defaults",
  ),
  client("KEY-ONE-HOST", "test/commands/client/client.test.ts", "a redirect to another host gets no key"),
  { requirement: "EVENT-1", kind: "outside", reason: "no events are shown; there is nothing to test" },
  {
    requirement: "AUTH-7",
    kind: "outside",
    reason: "keys are made outside the interface and come from the target file",
  },
  {
    requirement: "STATE-1",
    kind: "not-observable",
    reason: "states show only through the denials that errors.* judge",
  },
  { requirement: "HIST-1", kind: "not-observable", reason: "the interface gives no access to the history" },
  { requirement: "SEC-4", kind: "not-observable", reason: "a gateway's own logs cannot be seen from outside" },
];
