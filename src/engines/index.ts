export { closedLoopPeak } from "./autocannon.ts";
