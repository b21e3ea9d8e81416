import { denialWords } from "../../judging/index.ts";
import type { RunRecord } from "../../record/index.ts";
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

/** How the responses of a recorded run are read. Earlier builds recorded the text of a denial as `message`. */
export function recordedRules({ target: { reading } }: Pick<RunRecord, "target">): ReadingRules {
  const { denials, ...rest } = reading;
  if (denials === undefined) return rest;
  const withMessages = denials.map(({ message, ...denial }) => ({
    ...denial,
    ...(message === undefined ? {} : { messages: [message] }),
  }));
  return { ...rest, denials: withMessages as ReadingRules["denials"] };
}
