import { didYouMean, nearestOf } from "../core/index.ts";

/** What the command line accepts. */
export interface CommandNames {
  /** Of `gauntlet`, or of a command with subcommands. */
  readonly commands: readonly string[];
  /** Of the command, without dashes. */
  readonly options: readonly string[];
  /** Usage of the typed command, as in its help: `conform [suites..]`; absent when it is unknown. */
  readonly usage?: string | undefined;
  /** The command line as typed: commands, options and their values. */
  readonly typed?: readonly string[] | undefined;
}

export interface UsageMessage {
  readonly message: string;
  readonly hint: string;
}

/**
 * The argument parser's messages as codes, for its `updateStrings`: what kind of complaint it is, then its data. Sentences are
 * written here, and no English text is parsed.
 */
export const PARSER_CODES = {
  "Unknown argument: %s": forAnyCount("unknown-argument %s"),
  "Unknown command: %s": forAnyCount("unknown-command %s"),
  "Not enough non-option arguments: got %s, need at least %s": forAnyCount("missing-positional %s"),
  "Too many non-option arguments: got %s, maximum of %s": forAnyCount("extra-positional %s"),
  "Missing required argument: %s": forAnyCount("missing-option %s"),
  "Not enough arguments following: %s": "missing-value %s",
  "Invalid values:": "invalid-value",
  "Argument: %s, Given: %s, Choices: %s": "%s\u001f%s\u001f%s",
  "Implications failed:": "missing-dependent",
};

/** The parser has two forms of these, for one and for several. Its types know only one. */
function forAnyCount(text: string): string {
  return { one: text, other: text } as unknown as string;
}

const nextStep = ({ usage }: CommandNames): string =>
  usage === undefined
    ? "`gauntlet --help` lists the commands."
    : `See \`gauntlet ${wordsOf(usage)} --help\` for its options.`;

/** The command without its arguments. */
const wordsOf = (usage: string): string => usage.replace(/\s[<[].*$/, "");

/** Options of other load generators, and where a workload file has the same. */
const IN_WORKLOAD: Readonly<Record<string, string>> = {
  duration: "`arrivals.durationS`",
  rate: "`arrivals.ratePerS`",
  rps: "`arrivals.ratePerS`",
  vus: "`arrivals: { kind: closed, inFlight: N }`",
};

const optionsOf = (names: string): string[] => [...new Set(names.split(", "))];

/** @param name a command, or a command with its action. */
function unknownCommand(name: string, known: CommandNames): UsageMessage {
  const last = name.slice(name.lastIndexOf(" ") + 1);
  return { message: `unknown command "${name}"`, hint: didYouMean(last, known.commands) + nextStep(known) };
}

/** The sentence for each kind of complaint. */
const SENTENCES: Readonly<Record<string, (data: string, known: CommandNames) => UsageMessage>> = {
  "unknown-argument": (names, known) => {
    const all = optionsOf(names);
    const [first = ""] = all;
    const { typed = [], usage } = known;
    const words = typed.filter((word) => !word.startsWith("-"));
    // What follows an unknown command is unknown because of it.
    if (usage === undefined) return unknownCommand(words[0] ?? first, known);
    const [command = "", action] = words;
    // Values of options are among the words.
    const hasAction = words.some((word) => known.commands.includes(word));
    if (/ <action>/.test(usage) && action !== undefined && !hasAction)
      return unknownCommand(`${command} ${action}`, known);
    // The parser removes the dashes. A word that was typed without them is an extra argument.
    const dashed = typed.filter((word) => word.startsWith("-")).map((word) => word.replace(/^-+|=.*$/gs, ""));
    const hasDashes = (name: string) => dashed.includes(name) || (!words.includes(name) && !/\s/.test(name));
    const isOption = hasDashes(first);
    const what = all
      .filter((name) => hasDashes(name) === isOption)
      .map((name) => (isOption ? `${name.length === 1 ? "-" : "--"}${name}` : `"${name}"`))
      .join(", ");
    const inWorkload = wordsOf(usage) === "load" ? nearestOf(first, Object.keys(IN_WORKLOAD)) : undefined;
    if (inWorkload !== undefined && !known.options.includes(inWorkload))
      return {
        message: `${wordsOf(usage)} has no option ${what}`,
        hint: `Set it in the workload file: ${IN_WORKLOAD[inWorkload]}. ${nextStep(known)}`,
      };
    const guess = isOption ? didYouMean(first, known.options).replace(/"(.*)"/, '"--$1"') : "";
    const message = `${wordsOf(usage)} has no ${isOption ? "option" : "argument"} ${what}`;
    return { message, hint: guess + nextStep(known) };
  },
  "unknown-command": unknownCommand,
  "missing-positional": (_, known) => ({
    message: `an argument is missing: gauntlet ${known.usage ?? "<command>"}`,
    hint: nextStep(known),
  }),
  "extra-positional": (_, known) => ({
    message: `unexpected argument: gauntlet ${known.usage ?? "<command>"}`,
    hint: nextStep(known),
  }),
  "missing-option": (names, known) => ({
    message: `${optionsOf(names)
      .map((name) => `--${name}`)
      .join(" and ")} must be given`,
    hint: nextStep(known),
  }),
  "missing-value": (name, known) => ({ message: `--${name} needs a value`, hint: nextStep(known) }),
  "invalid-value": (data, known) => {
    const [name = "", given = "", choices = ""] = data.replaceAll('"', "").split("\u001f");
    const all = choices.split(", ");
    const option = known.options.includes(name) ? `--${name}` : name;
    const message = `invalid value for ${option}: "${given}"`;
    const parts = given.split(",").map((part) => part.trim());
    if (parts.length > 1 && parts.every((part) => all.includes(part)))
      return { message, hint: "It takes one value. If an option may be repeated, give it once for each value." };
    return { message, hint: `${didYouMean(given, all)}Use ${all.join(", ")}.` };
  },
  "missing-dependent": (data, known) => {
    const [name, needed] = data.split(/\s*->\s*/);
    return { message: `--${name} needs --${needed} as well`, hint: nextStep(known) };
  },
};

/** What is wrong with a command line, and the next step. @param complaint of the argument parser, in the codes of `PARSER_CODES`. */
export function usageMessage(complaint: string, known: CommandNames): UsageMessage {
  const [, kind = "", data = ""] = /^([a-z-]+)\s*(.*)$/s.exec(complaint) ?? [];
  return SENTENCES[kind]?.(data.trim(), known) ?? { message: complaint, hint: nextStep(known) };
}

/** Whether the parser complains that no command was named. */
export const isCommandMissing = (complaint: string): boolean => complaint.startsWith("missing-positional");
