import { suggestWaivers } from "../../checks/index.ts";
import { readRecord } from "../../record/index.ts";

/** A waiver file for the failures of a stored run, with reason and owner to be filled in. */
export function waiversFor(dir: string): string {
  return suggestWaivers(readRecord(dir).checks, Date.now());
}
