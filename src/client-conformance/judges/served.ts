import { isTrue, type Verdict } from "../../judging/index.ts";
import { type Attempt, type ClientRun, headerOf } from "../observation.ts";
import { endingInWords } from "./generations.ts";

/** The control scenario: what every request must carry, and that the command accepts the response. */
export function judgeServed(run: ClientRun, verdict: Verdict): void {
  for (const attempt of run.attempts) {
    const type = headerOf(attempt, "content-type") ?? "none";
    verdict.must("CLIENT-2", /^application\/json\b/i.test(type), isTrue("`Content-Type: application/json`", type), {
      in: attempt,
    });
    const credentials = attempt.request.headers.filter(([name]) => name.toLowerCase() === "authorization");
    const bearer = credentials.length === 1 && /^bearer /i.test(credentials[0]?.[1] ?? "");
    verdict.must("CLIENT-3", bearer, isTrue("one header `Authorization: Bearer …`", credentialOf(attempt)), {
      in: attempt,
    });
    if (attempt.request.endpoint !== "messages") continue;
    // Clients also send their own version under such names.
    const versions = attempt.request.headers.filter(([name]) => /-version$/i.test(name));
    verdict.must(
      "CLIENT-4",
      versions.some(([, value]) => /^\d{4}-\d{2}-\d{2}$/.test(value)),
      isTrue("a version header with a date", versions.map(([name, value]) => `${name}: ${value}`).join(", ") || "none"),
      { in: attempt },
    );
  }
  if (run.ending.by === "itself" && run.ending.exitCode !== 0)
    verdict.markUndecided("inconclusive", `it was served, but ${endingInWords(run)}${lastWords(run)}`);
}

function credentialOf(attempt: Attempt): string {
  const names = attempt.request.headers
    .map(([name]) => name.toLowerCase())
    .filter((name) => name === "authorization" || name === "x-api-key" || name === "api-key");
  return names.length === 0 ? "no credential" : names.join(" and ");
}

/** The last line of a command's output. */
export function lastWords({ ending }: Pick<ClientRun, "ending">): string {
  const line = ending.stderr.trim().split("\n").at(-1)?.trim() ?? "";
  return line === "" ? "" : `: ${line.slice(0, 200)}`;
}
