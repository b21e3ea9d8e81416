export { curlLine, keyVariables } from "./curl.ts";
export { jsonDocument } from "./json-document.ts";
export { renderTerminal } from "./terminal.ts";
