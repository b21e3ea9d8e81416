#!/usr/bin/env node
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readBundle, runProgram, scriptOf } from "./program.ts";

const bundle = fileURLToPath(new URL("./bundle/cli.cjs", import.meta.url));
const madeMs = (file: string | URL): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
// The program in one file (scripts/bundle.mjs) begins in half the time; whatever was built after it counts more.
const isFresh = madeMs(bundle) > madeMs(new URL("../.tsbuildinfo", import.meta.url));
const program = isFresh ? runProgram(scriptOf(readBundle(bundle)), bundle) : await import("./cli/index.ts");
const { crashWith, main, outputFailed } = program;

// Without handlers Node ends with 1, which says that a gate failed.
process.on("uncaughtException", crashWith);

// A reader that closes after one line (`gauntlet conform | head -1`) must not end the run or lose its record.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => outputFailed(error));
}

const exitCode = await main(process.argv.slice(2));
// Left alone on success: a stream that could not be written has said so already.
if (exitCode !== 0) process.exitCode = exitCode;
