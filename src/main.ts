#!/usr/bin/env node
import { main } from "./cli/index.ts";

// Somebody who reads one line and leaves (`gauntlet conform | head -1`) must not end the run or lose its record.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

process.exitCode = await main(process.argv.slice(2));
