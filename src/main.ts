#!/usr/bin/env node
import { crashWith, main, outputFailed } from "./cli/index.ts";

// Without handlers Node ends with 1, which says that a gate failed.
process.on("uncaughtException", crashWith);

// Somebody who reads one line and leaves (`gauntlet conform | head -1`) must not end the run or lose its record.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => outputFailed(error));
}

const exitCode = await main(process.argv.slice(2));
// Left alone on success: a stream that could not be written has said so already.
if (exitCode !== 0) process.exitCode = exitCode;
