export { curlLine, keyVariables } from "./curl.ts";
export { type Evidence, readEvidence } from "./evidence.ts";
export { ALL_FORMATS, DEFAULT_FORMATS, FORMATS, type Format } from "./formats.ts";
export type { Layout } from "./html/render-html.tsx";
export { jsonDocument } from "./json-document.ts";
export { renderLoad, renderLoadRuns } from "./load-terminal.ts";
export { wantedExchanges } from "./problems.ts";
export type { ReportSource } from "./source.ts";
export { renderTerminal } from "./terminal.ts";
