export { journalFailure, journalStart } from "./journal-start.ts";
export { optionWords } from "./option-words.ts";
export {
  type RecordHead,
  type RunStart,
  recordHead,
  recordHeadSchema,
  runIdOf,
  targetQualifiers,
} from "./record-head.ts";
export { requirementSet, versionDocument } from "./version-document.ts";
