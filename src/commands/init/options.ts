import { EXIT, UsageError } from "../../core/index.ts";
import { defineCommand, flag, text } from "../../terminal/index.ts";
import type { InitAnswers, Initialised } from "./run.ts";

/** `gauntlet init`: writes a target file and the files around it. */
export const initCommand = defineCommand({
  command: "init",
  describe: "Write a target file, a policy and a CI job",
  examples: [
    ["gauntlet init --yes --base-url https://gw.example.test/v1 --ci gitlab", "no prompts"],
    ["gauntlet init --accept-gaps", "declare what gauntlet.yaml lacks as gaps, so that a run can pass"],
  ],
  builder: (yargs) =>
    yargs.options({
      yes: { ...flag("do not prompt: use the options and defaults"), alias: "y" },
      "base-url": text("base URL with its version segment, such as /v1"),
      name: text("name of the gateway in reports"),
      model: text("a model for chat completions"),
      "messages-model": text("a model for messages"),
      limits: text("starter, growth, scale, or RPM:INFLIGHT"),
      ci: {
        choices: ["github", "gitlab", "jenkins", "none"] as const,
        default: "github" as const,
        describe: "CI job to write",
      },
      "ci-only": flag("write only the CI job, next to an existing gauntlet.yaml"),
      force: flag("overwrite existing files"),
      "accept-gaps": flag("declare what an existing target file lacks as gaps, so that a run can pass"),
      target: { ...text("target file for --accept-gaps"), default: "gauntlet.yaml" },
    }),
  run: async (argv) => {
    if (argv.acceptGaps) return (await import("./accept-gaps.ts")).acceptGaps(argv.target);
    const { init, initJob, assertNothingThere, stepsForCi, DEFAULT_BASE_URL } = await import("./run.ts");
    const { programHere } = await import("../../run/control/index.ts");
    if (argv.ciOnly) {
      if (argv.ci === "none") throw new UsageError("--ci-only requires --ci github, --ci gitlab or --ci jenkins");
      const made = initJob(argv.ci, argv.force);
      const steps = stepsForCi({ ci: argv.ci, baseUrl: made.baseUrl, isComplete: made.isComplete }, [
        ...made.paths,
        ...ignoreFile(made),
      ]);
      return { exitCode: EXIT.pass, text: () => `${wroteText(made)}${stepsText(steps)}` };
    }
    assertNothingThere(argv.ci, argv.force);
    const isAsking = !argv.yes && process.stdin.isTTY === true && process.stdout.isTTY === true;
    const answers = await answersFor(argv, isAsking ? await askAtTerminal() : takeDefault).catch(left);
    if (answers === undefined) return { exitCode: EXIT.interrupted, text: () => "nothing was written\n" };
    const made = await init({ answers, ci: argv.ci, force: argv.force });
    const { paths, gatewayNote } = made;
    const isPlaceholder = !isAsking && argv.baseUrl === undefined;
    const placeholder = !isPlaceholder
      ? ""
      : `baseUrl in gauntlet.yaml is a placeholder: replace ${DEFAULT_BASE_URL} with your gateway's address\n`;
    const seen = gatewayNote === undefined ? "" : `${gatewayNote.replace(/\p{Cc}+/gu, " ")}\n`;
    const written = [...paths, ...ignoreFile(made)];
    const forCi = stepsForCi(
      { ci: argv.ci, baseUrl: isPlaceholder ? undefined : answers.baseUrl, isComplete: false },
      written,
    );
    const text = `${wroteText(made)}${placeholder}${seen}${next({ program: programHere(), forCi, wasRead: made.wasRead })}`;
    return { exitCode: EXIT.pass, text: () => text };
  },
});

const wroteText = ({ paths, ignored }: Initialised): string =>
  [
    ...paths.map((path) => `wrote ${path}\n`),
    ...(ignored.length === 0 ? [] : [`added ${ignored.join(", ")} to .gitignore\n`]),
  ].join("");

const ignoreFile = ({ ignored }: Initialised): string[] => (ignored.length === 0 ? [] : [".gitignore"]);

const stepsText = (forCi: readonly string[]): string =>
  forCi.length === 0 ? "" : `\nBefore CI can run the job:\n${forCi.map((step) => `  - ${step}\n`).join("")}`;

interface Next {
  readonly program: string;
  readonly forCi: readonly string[];
  /** The key is set, and the gateway was read: these two steps are done. */
  readonly wasRead: boolean;
}

/** Commands to try here, and what CI still needs. */
function next({ program, forCi, wasRead }: Next): string {
  const setUp = [
    ["export GW_KEY=…", "do not commit keys"],
    [`${program} doctor --propose`, "detect the gateway's status codes, error codes and limits"],
  ] as const;
  const steps = [
    ...(wasRead ? [] : setUp),
    [`${program} doctor`, "check the setup, and list what is missing"] as const,
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, purpose]) => `  ${command.padEnd(width)} # ${purpose}\n`);
  return `\nNext:\n${lines.join("")}  ${program} conform --target gauntlet.yaml\n${stepsText(forCi)}`;
}

/** Ctrl-C at a prompt is the normal way to leave; everything else is an error. */
function left(error: unknown): undefined {
  if (error instanceof Error && error.name === "ExitPromptError") return undefined;
  throw error;
}

/** As given by options; missing values are prompted for. */
interface InitArguments {
  readonly baseUrl?: string | undefined;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly messagesModel?: string | undefined;
  readonly limits?: string | undefined;
}

interface Question {
  readonly message: string;
  readonly default: string;
  /** @returns what is wrong with a text. */
  readonly validate?: (text: string) => true | string;
}

type Ask = (given: string | undefined, question: Question) => Promise<string>;

const takeDefault: Ask = async (given, question) => given ?? question.default;

/** The same, with prompts at a terminal for missing values. */
async function askAtTerminal(): Promise<Ask> {
  const { input } = await import("@inquirer/prompts");
  return async (given, question) => given ?? (await input(question)).trim();
}

/** No prompt is ever about a key. */
async function answersFor(given: InitArguments, ask: Ask): Promise<InitAnswers> {
  const { DEFAULT_BASE_URL, defaultName, problemOf } = await import("./run.ts");
  const checked = (name: keyof InitAnswers) => (text: string) => problemOf({ [name]: text.trim() }) ?? true;
  const baseUrl = await ask(given.baseUrl, {
    message: "Base URL, with its version segment (/v1)",
    default: DEFAULT_BASE_URL,
    validate: checked("baseUrl"),
  });
  const model = await ask(given.model, {
    message: "A model for chat completions; empty: the first listed",
    default: "",
    validate: checked("model"),
  });
  return {
    baseUrl,
    model,
    name: await ask(given.name, {
      message: "Name in reports",
      default: defaultName(baseUrl),
      validate: checked("name"),
    }),
    messagesModel: await ask(given.messagesModel, {
      message: "A model for messages; empty: the same",
      default: "",
      validate: checked("messagesModel"),
    }),
    limits: await ask(given.limits, {
      message: "Limits: starter, growth, scale or RPM:INFLIGHT; empty: not known",
      default: "",
      validate: checked("limits"),
    }),
  };
}
