export { decodeBody } from "./decode-body.ts";
export type {
  Bounds,
  Exchange,
} from "./exchange.ts";
export { ExchangePacker } from "./exchange-packer.ts";
export { type ContinueOutcome, expectContinue } from "./expect-continue.ts";
export type { LiveExchange, OutgoingRequest } from "./live-exchange.ts";
export { Recorder, type SendOptions } from "./recorder.ts";
export { Redactor, type Secret } from "./redaction/redact.ts";
export { redactExchange } from "./redaction/redact-exchange.ts";
export type { FilledBody } from "./sent-body.ts";
