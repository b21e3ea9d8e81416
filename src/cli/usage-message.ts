import { didYouMean } from "../core/index.ts";

/** What the command line accepts. */
export interface Known {
  /** Of `gauntlet`, or of a command with subcommands. */
  readonly commands: readonly string[];
  /** Of the command, without dashes. */
  readonly options: readonly string[];
  /** Usage of the typed command, as in its help: `conform [suites..]`; absent when it is unknown. */
  readonly usage?: string | undefined;
}

export interface UsageMessage {
  readonly message: string;
  readonly hint: string;
}

type Rule = readonly [sign: RegExp, words: (found: readonly string[], known: Known) => UsageMessage];

const nextStep = ({ usage }: Known): string =>
  usage === undefined
    ? "`gauntlet --help` lists the commands."
    : `\`gauntlet ${wordsOf(usage)} --help\` shows what it takes.`;

/** The command without its arguments. */
const wordsOf = (usage: string): string => usage.replace(/\s[<[].*$/, "");

/** Replacements for the argument parser's messages. */
const RULES: readonly Rule[] = [
  [
    /^Unknown arguments?: (.+)$/s,
    ([names = ""], known) => {
      const all = [...new Set(names.split(", "))];
      const [first = ""] = all;
      // A word that is not an option is an unknown command, or an extra argument.
      const isOption = first.length > 1 && known.usage !== undefined && !/\s/.test(first);
      const what = all.map((name) => (isOption ? `--${name}` : `"${name}"`)).join(", ");
      const guess = didYouMean(first, isOption ? known.options : known.commands).replace(
        /"(.*)"/,
        isOption ? '"--$1"' : '"$1"',
      );
      return {
        message:
          known.usage === undefined ? `unknown command ${what}` : `${wordsOf(known.usage)} does not take ${what}`,
        hint: guess + nextStep(known),
      };
    },
  ],
  [
    /^Unknown commands?: (.+)$/s,
    ([name = ""], known) => ({
      message: `unknown command "${name}"`,
      hint: didYouMean(name, known.commands) + nextStep(known),
    }),
  ],
  [
    /^Not enough non-option arguments/,
    (_, known) => ({
      message: `an argument is missing: gauntlet ${known.usage ?? "<command>"}`,
      hint: nextStep(known),
    }),
  ],
  [
    /^Too many non-option arguments/,
    (_, known) => ({
      message: `one argument too many: gauntlet ${known.usage ?? "<command>"}`,
      hint: nextStep(known),
    }),
  ],
  [
    /^Missing required arguments?: (.+)$/s,
    ([names = ""], known) => ({
      message: `${names
        .split(", ")
        .map((name) => `--${name}`)
        .join(" and ")} must be given`,
      hint: nextStep(known),
    }),
  ],
  [
    /^Not enough arguments following: (.+)$/s,
    ([name = ""], known) => ({ message: `--${name} needs a value`, hint: nextStep(known) }),
  ],
  [
    /Argument: (\S+), Given: (.+?), Choices: (.+)$/s,
    ([name = "", given = "", choices = ""], known) => {
      const all = choices.replaceAll('"', "").split(", ");
      const text = given.replaceAll('"', "");
      const option = known.options.includes(name) ? `--${name}` : name;
      return { message: `${option} cannot be "${text}"`, hint: `${didYouMean(text, all)}It takes ${all.join(", ")}.` };
    },
  ],
  [
    /^(?:Missing dependent arguments|Implications failed):\s*(\S+) -> (\S+)/s,
    ([name = "", needed = ""], known) => ({ message: `--${name} needs --${needed} as well`, hint: nextStep(known) }),
  ],
];

/** What is wrong with a command line, and the next step, instead of the argument parser's own message. */
export function usageMessage(complaint: string, known: Known): UsageMessage {
  for (const [sign, words] of RULES) {
    const found = sign.exec(complaint);
    if (found !== null) return words(found.slice(1), known);
  }
  return { message: complaint, hint: nextStep(known) };
}
