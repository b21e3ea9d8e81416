import { type Check, instancesOf, mergeRounds, ReadingCache, Response, resultOf, thaw } from "../../checks/index.ts";
import { type CheckResult, EXCHANGES, RECORDINGS, type StoredRun } from "../../record/index.ts";
import { isExchangeLine, truncatedFile } from "../record/index.ts";

/**
 * Judges every recorded check of a run again. Sends nothing.
 *
 * @param dir folder of the run, for messages. @throws StorageError if an exchange or a recording is missing.
 */
export function judgeAgain(
  { record, exchanges, recordings }: StoredRun,
  checks: readonly Check[],
  dir: string,
): CheckResult[] {
  const reading = { ...record.target.reading, cache: new ReadingCache() };
  const responses = new Map(
    exchanges
      .filter(isExchangeLine)
      .map(({ requested, exchange }) => [exchange.id, new Response(exchange, requested, reading)]),
  );
  const responseOf = (id: string): Response => {
    const response = responses.get(id);
    if (response === undefined) throw truncatedFile(dir, EXCHANGES, `exchange ${id}, to which a recording refers`);
    return response;
  };
  const instances = new Map(checks.flatMap(instancesOf).map((instance) => [instance.id, instance]));
  return record.checks.map((before): CheckResult => {
    const instance = instances.get(before.id);
    const recorded = recordings.get(before.id) ?? [];
    const isMissing = recorded.every((recording) => recording === undefined);
    if (instance !== undefined && isMissing && record.complete && wasJudged(before))
      throw truncatedFile(dir, RECORDINGS, `the recording of ${before.id}, which was judged`);
    // Results without a recording (blocked, interrupted) cannot be judged again and stay as they were.
    if (instance === undefined || isMissing) return before;
    const { rounds = [before], waived: _, ...facts } = before;
    return mergeRounds(
      rounds.map(({ status, message }, round) => {
        const recording = recorded[round];
        if (recording === undefined) return { ...facts, status, message, rounds: undefined };
        return resultOf(instance, thaw(recording, responseOf), before);
      }),
    );
  });
}

/** Whether a result was judged from a recording. */
function wasJudged({ findings, exchanges }: CheckResult): boolean {
  return findings.length > 0 || exchanges.length > 0;
}
