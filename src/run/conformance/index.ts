export { type ConformOptions, conform } from "./conform.ts";
