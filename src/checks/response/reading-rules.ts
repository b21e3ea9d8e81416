import { denialWords } from "../../judging/index.ts";
import type { Target } from "../../target/index.ts";
import type { ReadingRules } from "./response.ts";

/** How responses of this target are read; stored with the record, so that a later judgement reads them the same way. */
export function readingRules(target: Target): ReadingRules {
  const { reasonFrom } = target.contract;
  const denials = denialWords(target.contract);
  return {
    reasonHeader: target.headers.reason,
    actionHeader: target.headers.action,
    ...(reasonFrom === undefined || reasonFrom === "header" ? {} : { reasonPointer: reasonFrom }),
    ...(denials === undefined ? {} : { denials }),
  };
}
