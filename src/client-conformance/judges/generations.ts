import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type ClientRun, callsOf } from "../observation.ts";

/** Words of a generation: the first attempt at a call says `one-1 one-2 …`, the second `two-1 two-2 …`. */
const NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Text of the generation that is truncated. */
export const PARTIAL = /\bone-\d+/;

/** @param attempt 0 for the first. */
export function generation(attempt: number, words: number): string {
  const name = nameOf(attempt);
  return Array.from({ length: words }, (_, index) => `${name}-${index + 1}`).join(" ");
}

const nameOf = (attempt: number) => NAMES[attempt] ?? "later";

/** The text of an interrupted stream must stay separate from the text of the next stream. */
export function judgeGenerations(requirement: MustRequirement, run: ClientRun, verdict: Verdict): void {
  const streamed = run.attempts.filter(({ request }) => request.stream);
  const [first] = streamed;
  if (first === undefined) {
    verdict.markUndecided(
      "not-applicable",
      "it did not request a stream: to be judged, a command must stream if GAUNTLET_STREAM is 1",
    );
    return;
  }
  const carrying = run.attempts.slice(1).find(({ request }) => PARTIAL.test(request.body));
  const retried = callsOf(run).some((call) => call.length > 1) || carrying !== undefined;
  if (!retried) {
    verdict.note(requirement, `the interrupted stream was not requested again; ${endingInWords(run)}`);
    return;
  }
  verdict.must(
    requirement,
    carrying === undefined,
    isTrue(
      "a new generation from the start",
      carrying === undefined ? "the same request again" : "a request to continue the text received so far",
    ),
    { in: carrying ?? streamed[1] },
  );
  const { stdout } = run.ending;
  const joined = /\bone-\d+ *(two|three|four|five|six|seven|eight|nine|ten)-1\b/.exec(stdout);
  if (!PARTIAL.test(stdout) && !/\btwo-\d+/.test(stdout))
    verdict.note(requirement, "its output does not contain the text, so only the requests were judged");
  else
    verdict.must(
      requirement,
      joined === null,
      isTrue(
        "the two texts separate in the output",
        joined === null ? "they are separate" : `one text from both: "… ${joined[0]} …"`,
      ),
      { in: streamed[1] },
    );
}

export function endingInWords({ ending }: Pick<ClientRun, "ending">): string {
  if (ending.by !== "itself") return "the command was stopped";
  if (ending.signal !== null) return `the command was ended by ${ending.signal}`;
  return `the command ended with exit code ${ending.exitCode}`;
}
