import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { leftoversOf, Traffic } from "../../checks/index.ts";
import { EXIT, UsageError } from "../../core/index.ts";
import type { ReadDenial } from "../../propose/index.ts";
import { proposalPlan, propose } from "../../propose/index.ts";
import type { OnProgress, Outcome } from "../../run/control/index.ts";
import { permitFor } from "../../run/control/index.ts";
import { openTarget } from "../../run/open/index.ts";

/**
 * Proposes a target file for the gateway of a target file.
 *
 * @param out file to write; otherwise the text is printed.
 * @param onProgress receives what remains at the gateway: keys that the target's hook created and cannot delete.
 * @throws UsageError when `out` already exists, ConfigError for an invalid target file, UnreachableError when nothing responds.
 */
export async function proposeFile(file: string, out: string | undefined, onProgress: OnProgress): Promise<Outcome> {
  if (out !== undefined && existsSync(out))
    throw new UsageError(`${out} already exists`, { hint: "Name another file, and compare the two." });
  const { signal } = new AbortController();
  await using opened = await openTarget({ target: file }, { signal, onProgress });
  const { target, provisioner } = opened;
  const { budget } = permitFor(target, proposalPlan(target), "checks");
  await using traffic = new Traffic({ target, budget, seed: 1, signal, provisioner });
  const { yaml, read, remarks } = await propose(traffic, readFileSync(file, "utf8"));
  for (const text of await leftoversOf(traffic, [])) onProgress({ kind: "note", text });
  if (out !== undefined) writeFileSync(out, yaml);
  const { requests } = traffic.sent;
  return {
    exitCode: EXIT.pass,
    document: {
      schemaVersion: 1,
      exitCode: EXIT.pass,
      requests,
      yaml,
      denials: traffic.recorder.redactor.redactValue(read.map(documentOf)),
      ...(out !== undefined && { file: out }),
    },
    text: () => (out === undefined ? yaml : `wrote ${out}, after ${requests} requests\n${summaryOf(remarks)}`),
  };
}

/** A recorded denial for the JSON output. */
function documentOf({ sample, readAs, isRight }: ReadDenial) {
  const { reason = null, what, response } = sample;
  return {
    reason,
    what,
    status: response.status ?? null,
    body: response.text.slice(0, MAX_BODY),
    readAs: readAs ?? null,
    isRight,
  };
}

const MAX_BODY = 1_000;

function summaryOf(remarks: readonly string[]): string {
  return remarks.map((remark) => `${remark.replace(/\p{Cc}+/gu, " ").slice(0, MAX_BODY)}\n`).join("");
}
