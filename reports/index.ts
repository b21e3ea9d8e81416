export { curlLine, keyVariables } from "./curl.ts";
export { type Evidence, readEvidence } from "./evidence.ts";
export { type Layout, type ReportFiles, renderHtml } from "./html/render-html.tsx";
export { jsonDocument } from "./json-document.ts";
export { wantedExchanges } from "./problems.ts";
export type { ReportSource } from "./source.ts";
export { renderTerminal } from "./terminal.ts";
