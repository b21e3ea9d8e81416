import { createInterface } from "node:readline/promises";
import { type InitAnswers, useCase } from "../../app/index.ts";
import { EXIT } from "../../core/index.ts";
import { defineCommand } from "../define-command.ts";

/** `gauntlet init`: writes a target file and what belongs to it. */
export const initCommand = defineCommand({
  command: "init",
  describe: "Write gauntlet.yaml, .env.example, a policy and a CI job",
  builder: (yargs) =>
    yargs.options({
      yes: { type: "boolean", alias: "y", default: false, describe: "ask nothing: options and defaults answer" },
      "base-url": { type: "string", requiresArg: true, describe: "base address with its version segment" },
      name: { type: "string", requiresArg: true, describe: "what reports call the gateway" },
      model: { type: "string", requiresArg: true, describe: "a model for chat completions" },
      "messages-model": { type: "string", requiresArg: true, describe: "a model for messages" },
      limits: { type: "string", requiresArg: true, describe: "starter, growth, scale, or RPM:INFLIGHT" },
      ci: { choices: ["github", "gitlab", "none"] as const, default: "github" as const, describe: "CI job to write" },
      force: { type: "boolean", default: false, describe: "overwrite files that are there" },
    }),
  run: async (argv) => {
    const { DEFAULT_BASE_URL, defaultName, init } = await useCase.init();
    const answers = await answersFor(argv, { baseUrl: DEFAULT_BASE_URL, nameOf: defaultName });
    const paths = init({ answers, ci: argv.ci, force: argv.force });
    const text = `${paths.map((path) => `wrote ${path}\n`).join("")}${NEXT}`;
    return { exitCode: EXIT.pass, text: () => text };
  },
});

const NEXT = `
Next:
  export GW_KEY=…            # never in a file that is committed
  npx gauntlet doctor        # what can be judged, and what would unlock more
  npx gauntlet conform --target gauntlet.yaml
`;

interface Given {
  readonly yes: boolean;
  readonly baseUrl?: string | undefined;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly messagesModel?: string | undefined;
  readonly limits?: string | undefined;
}

interface Defaults {
  readonly baseUrl: string;
  readonly nameOf: (baseUrl: string) => string;
}

/** Asks at a terminal for what is not given; elsewhere, and with `--yes`, defaults answer. Never asks for a key. */
async function answersFor(given: Given, defaults: Defaults): Promise<InitAnswers> {
  const asking = !given.yes && process.stdin.isTTY === true && process.stdout.isTTY === true;
  const ask = asking ? createInterface({ input: process.stdin, output: process.stdout }) : undefined;
  const answer = async (question: string, option: string | undefined, otherwise: string): Promise<string> => {
    if (option !== undefined || ask === undefined) return option ?? otherwise;
    const typed = (await ask.question(`${question}${otherwise === "" ? "" : ` [${otherwise}]`}: `)).trim();
    return typed === "" ? otherwise : typed;
  };
  try {
    const baseUrl = await answer("Base address, with /v1", given.baseUrl, defaults.baseUrl);
    const model = await answer("A model for chat completions; empty: the first listed", given.model, "");
    return {
      baseUrl,
      name: await answer("Name in reports", given.name, defaults.nameOf(baseUrl)),
      model,
      messagesModel: await answer("A model for messages; empty: the same", given.messagesModel, ""),
      limits: await answer("Limits: starter, growth, scale or RPM:INFLIGHT; empty: not known", given.limits, ""),
    };
  } finally {
    ask?.close();
  }
}
