import type { Finding } from "../../src/record/index.ts";
import { describeExpected, describeFinding, describeMissing, describeObserved } from "./finding.ts";
import { describeResponse } from "./response.ts";
import { expectsRejection, situationOf } from "./situation.ts";

/** Several findings with one deviation. */
export interface CauseFacts {
  /** The most representative finding. */
  readonly worst: Finding;
  readonly findings: readonly Finding[];
  /** Number of checks that have them. */
  readonly checks: number;
  /** The load runs in which it occurred, if it occurred in load alone. */
  readonly loadRuns: readonly string[] | undefined;
  /** Whether the response shows that the path is not served. */
  readonly isAboutPath: boolean;
}

/** Requirements about what an account may use. */
const LIMITS = /^(LIMIT|TOKENS|SPEND)-/;

/** What a cause is, in one line. */
export function causeTitle({ worst, findings, loadRuns }: CauseFacts): string {
  const { deviation, expected, observed, pointer, response, subject } = worst;
  if (deviation?.kind === "malformed") return `malformed HTTP: ${deviation.detail}`;
  if (response !== undefined && (pointer === "status" || deviation?.kind === "no-response"))
    return `${situationOf(worst)}expected ${describeExpected(expected)}, got ${describeResponse(response)}`;
  // The finding itself holds the other counts of the phase.
  if (pointer === undefined && loadRuns !== undefined)
    return `${loadRuns.join(", ")}: ${subject === undefined ? "" : `${subject}: `}expected ${describeExpected(expected)}, got ${firstFact(worst)}`;
  if (pointer === undefined || pointer === "" || observed.kind !== "absent") return describeFinding(worst);
  const place = deviation?.kind === "reason" ? "the reason of these denials" : pointer;
  return describeMissing(
    place,
    findings.map((finding) => finding.expected),
  );
}

const firstFact = ({ observed }: Finding): string => describeObserved(observed).split("; ")[0] ?? "";

/** What to do about a cause, as far as the deviation shows. */
export function adviceFor({ worst, isAboutPath, loadRuns, checks }: CauseFacts): string {
  const { deviation, expected, observed, weight } = worst;
  const rerun = checks === 1 ? "rerun the check" : "rerun the first of these checks";
  const expectsSuccess = expected?.kind === "status" && expected.range === "2xx";
  if (expectsSuccess && isAboutPath)
    return "Serve these requests at their path. If the gateway does not offer this dialect at all, declare in the target file which dialects it does offer, for example dialects: [chat].";
  switch (deviation?.kind) {
    case "malformed":
      return "Fix what the gateway, or the proxy in front of it, sends: clients reject such a response, or read it in different ways.";
    case "no-response":
      return "Find out why these requests got no response. In the gateway's log, look for a crash, a timeout or a proxy that closed the connection at the time of the exchange.";
    case "incomplete":
      return "Find out what ended these responses early: a timeout of a proxy, a crash, or an upstream failure that is passed on as a closed connection. An error event before the end tells the client.";
    case "refused-late":
      return "These streams are refused, but too late to have a status. Send the response headers only when the first chunk is ready: until then, a refusal or an upstream failure can still set the status.";
    case "served":
      if (!expectsRejection(expected)) break;
      return worst.response?.reason === undefined
        ? "The gateway should have rejected these requests. Compare each with its control request: apart from a random word in the prompt, the only difference is what makes it invalid."
        : "These responses name the reason for a denial, but their status means success. Send denials with their own status.";
    case "reason":
      return `${observed.kind === "absent" ? "Name" : "Correct"} the reason of these denials. If the gateway names it in its own words or in another place, declare that under contract; gauntlet doctor --propose writes the lines.`;
    case "status":
      if (weight !== "fail") break;
      return expected?.kind === "value" && isDenial(worst)
        ? `The gateway denied the request, but with ${worst.response?.status} instead of ${describeExpected(expected)}. Change the status, or, if ${worst.response?.status} is intended, declare it under contract.denials.`
        : "Compare the exchange with its control request: apart from a random word in the prompt, they differ only in what decides the status.";
    case "header":
      return `${observed.kind === "absent" ? "Send" : "Correct"} this header in these responses, then ${rerun}.`;
    case "field":
      return `${observed.kind === "absent" ? "Add this field to" : "Correct this field of"} the response body, then ${rerun}.`;
    default:
      break;
  }
  const isCount = deviation?.kind === "bound" || (loadRuns !== undefined && worst.pointer === undefined);
  if (isCount && LIMITS.test(worst.requirements[0] ?? ""))
    return "Compare the counts with the limits in the target file: either the gateway does not enforce them, or the account has other limits.";
  if (loadRuns !== undefined && worst.name === "load.denied")
    return "If the load exceeds the account's limits, these denials are correct: lower its rate, or allow them with allow.deniedShare or a threshold on denied. Otherwise, check that the limits in the target file match those of the account.";
  if (loadRuns !== undefined && worst.response === undefined && worst.requirements.length === 0)
    return "The charts of the load show when this happened. Compare them with a run of an earlier build.";
  return `Compare the response with what was expected, fix the gateway, then ${rerun}.`;
}

/** Whether the gateway denied the request, in whatever words. */
const isDenial = ({ response }: Finding): boolean =>
  response?.status !== undefined && response.status >= 400 && response.status < 500;
