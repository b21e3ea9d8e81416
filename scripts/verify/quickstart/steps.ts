import { readFileSync } from "node:fs";
import { ROOT } from "../../docs/generated-files.ts";

/** One command of the block, or several that the shell treats as one: with continued lines and here-document. */
const STEP = /^[^\n]*<<'?(\w+)'?\n[\s\S]*?\n\1$|^(?:[^\n]*\\\n)*[^\n]+$/gm;

/** The steps of the README's block for new users, verbatim. */
export function quickstartSteps(): string[] {
  const readme = readFileSync(`${ROOT}README.md`, "utf8");
  const blocks = [...readme.matchAll(/<!-- quickstart -->\n\n```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  if (blocks.length !== 1) throw new Error(`README.md has ${blocks.length} blocks for a newcomer, and needs one`);
  return [...(blocks[0] ?? "").matchAll(STEP)].map(([step]) => step);
}
