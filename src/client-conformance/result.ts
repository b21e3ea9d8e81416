import { describeFacts } from "../../reports/text/index.ts";
import { type Conclusion, Verdict } from "../judging/index.ts";
import type { CheckResult } from "../record/index.ts";
import { lastWords } from "./judges/served.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, seconds } from "./observation.ts";
import type { Bounds, Scenario } from "./scenario.ts";

/** Maximum number of calls whose attempts are listed; the rest are counted. */
const LISTED_CALLS = 3;

/** Maximum number of calls for each call that a scenario needs: a test program may make more, but not without limit. */
const MAX_CALLS = 50;

/** Judges the runs of a command in one scenario. Pure: the same runs give the same result. */
export function judgeScenario(scenario: Scenario, runs: readonly ClientRun[], bounds: Bounds): CheckResult {
  const verdict = new Verdict();
  const empty = runs.find(({ attempts }) => attempts.length === 0);
  if (empty === undefined) scenario.judge(runs, verdict, bounds);
  else verdict.markUndecided("blocked", explainNoRequests(empty));
  const { calls = 1 } = scenario;
  // How many requests a command sends before its timeout depends on the machine; whether it follows the scenario does not.
  const flood = runs.find((run) => run.ending.by === "flood" || callsOf(run).length > calls * MAX_CALLS);
  if (flood !== undefined) verdict.markUndecided("inconclusive", flooded(flood, scenario));
  return {
    ...scenarioNotRun(scenario),
    axes: axesOf(runs),
    ...conclude(verdict, scenario, runs),
    violated: [...new Set(verdict.broken.flatMap(({ requirements }) => requirements))],
    findings: verdict.findings,
    exchanges: runs.flatMap(({ attempts, others }) => [...attempts, ...others]).map(({ id: exchange }) => exchange),
    durationMs: Math.max(...runs.map(({ ending }) => ending.durationMs)),
  };
}

/** What the findings add up to; on a pass, what was verified, or the attempts of each call. */
function conclude(verdict: Verdict, { passMessage }: Scenario, runs: readonly ClientRun[]): Conclusion {
  const { status, message } = verdict.conclude();
  if (status !== "pass" && status !== "observed") return { status, message };
  const described = verdict.findings.filter(({ outcome }) => outcome === (status === "pass" ? "met" : "observed"));
  const texts = [...new Set(described.map(describeFacts))].join("; ");
  return {
    status,
    message: texts === "" || (status === "pass" && passMessage !== "findings") ? timelineOf(runs) : texts,
  };
}

/** The result of a scenario that the run did not reach. */
export function scenarioNotRun({ name, title, requirements }: Scenario): CheckResult {
  return {
    id: `client.${name}`,
    check: `client.${name}`,
    suite: "client",
    title,
    layer: "specification",
    axes: {},
    status: "inconclusive",
    message: "the run ended before this scenario",
    requirements: [...requirements],
    violated: [],
    findings: [],
    attestations: [],
    unblock: [],
    exchanges: [],
    durationMs: 0,
  };
}

/** Dialect and mode of the attempts, if all attempts share them. */
function axesOf(runs: readonly ClientRun[]): CheckResult["axes"] {
  const requests = runs.flatMap(({ attempts }) => attempts).map(({ request }) => request);
  const [first] = requests;
  if (first === undefined) return {};
  if (requests.some(({ endpoint, stream }) => endpoint !== first.endpoint || stream !== first.stream)) return {};
  return { dialect: first.endpoint, mode: first.stream ? "streaming" : "non-streaming" };
}

/** `429, 2.01 s, 429, 1.00 s, 200` for each call, those with the most attempts first. */
function timelineOf(runs: readonly ClientRun[]): string {
  const calls = runs.flatMap(callsOf).sort((a, b) => b.length - a.length);
  const listed = calls.slice(0, LISTED_CALLS).map((call) =>
    call
      .map((attempt, index) => {
        const next = call[index + 1];
        return next === undefined ? outcomeOf(attempt) : `${outcomeOf(attempt)}, ${seconds(gapMs(attempt, next))}`;
      })
      .join(", "),
  );
  const more = calls.length - listed.length;
  return listed.join("; ") + (more > 0 ? `; and ${more} more call${more === 1 ? "" : "s"}` : "");
}

function outcomeOf({ response }: Attempt): string {
  if (response?.beganMs === undefined) return "no response";
  return response.outcome === "broken" ? `${response.status} and interrupted` : String(response.status);
}

function flooded({ attempts, others, ending }: ClientRun, { calls = 1 }: Scenario): string {
  const sent = attempts.length + others.length;
  return `it sent ${sent} requests in ${seconds(ending.durationMs)}; the scenario needs ${calls === 1 ? "one call" : `${calls} calls`}`;
}

/** Why a command sent nothing that could be judged, as far as the traffic shows. */
function explainNoRequests(run: ClientRun): string {
  const { ending, others } = run;
  const refused = others.filter(
    ({ request, response }) => request.endpoint !== "models" && (response?.status ?? 0) >= 400,
  );
  const [first] = refused;
  if (first !== undefined) {
    const what = `its requests were refused: ${first.request.method} ${first.request.url.slice(0, 100)} with ${first.response?.status} ${first.response?.reason ?? ""}`;
    if (first.response?.reason === "invalid_api_key") return `${what}. It must take its key from GAUNTLET_API_KEY`;
    if (first.response?.reason === "not_found") return `${what}. It must take its base address from GAUNTLET_BASE_URL`;
    return `${what}: ${messageIn(first.response?.body ?? "")}`;
  }
  const sent = others.length === 0 ? "nothing" : "no generation request";
  const ended =
    ending.by === "itself"
      ? `ended with ${ending.signal ?? `exit code ${ending.exitCode}`} after ${seconds(ending.durationMs)}`
      : `was stopped after ${seconds(ending.durationMs)}`;
  return `it sent ${sent} to GAUNTLET_BASE_URL and ${ended}${lastWords(run)}`;
}

function messageIn(body: string): string {
  return (/"message":"([^"]*)"/.exec(body)?.[1] ?? "").slice(0, 200);
}
