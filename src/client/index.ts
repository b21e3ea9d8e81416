export {
  type Bounds,
  DEFAULT_BOUNDS,
  type Ending,
  type EndingKind,
  type Exchange,
  type RecordedBody,
  type RecordedRequest,
  type RecordedResponse,
  type Redaction,
  type Timeline,
} from "./exchange.ts";
export { type Expectation as ContinueOutcome, expectContinue } from "./expect-continue.ts";
export type { LiveExchange, OutgoingRequest } from "./live-exchange.ts";
export { Recorder, type RecorderOptions, type SendOptions } from "./recorder.ts";
export { Redactor, type Secret } from "./redact.ts";
