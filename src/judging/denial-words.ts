import { type DenialMessage, type DenialWords, findDenial } from "../dialects/index.ts";
import { DENIALS, denial, type Reason } from "../requirements/index.ts";

type OneOrMore<T> = T | readonly T[];

interface ContractDenial {
  readonly status?: number | undefined;
  readonly reason?: OneOrMore<string> | undefined;
  readonly message?: OneOrMore<DenialMessage> | undefined;
}

/** `contract` of a target file, as far as it defines how denials are read. */
export interface DenialContract {
  readonly reasonFrom?: string | undefined;
  readonly denials?: Readonly<Partial<Record<Reason, ContractDenial | undefined>>> | undefined;
}

/** The denials of a target's contract; `undefined` if it defines none. */
export function denialWords({ denials = {}, reasonFrom }: DenialContract): DenialWords<Reason>[] | undefined {
  if (Object.keys(denials).length === 0 && (reasonFrom === undefined || reasonFrom === "header")) return undefined;
  const all = DENIALS.map(({ reason, status }) => {
    const own = denials[reason] ?? {};
    const messages = own.message === undefined ? undefined : asList(own.message);
    const words = own.reason === undefined ? (messages === undefined ? [reason] : undefined) : asList(own.reason);
    const entry: DenialWords<Reason> = {
      reason,
      status: own.status ?? status,
      ...(words === undefined ? {} : { words }),
      ...(messages === undefined ? {} : { messages }),
    };
    return { entry, rank: rankOf(own), length: lengthOf(messages ?? []) };
  });
  return all.sort((a, b) => a.rank - b.rank || b.length - a.length).map(({ entry }) => entry);
}

/** The most specific entry comes first: a code and a message, a code, a message, the specification's own code. */
function rankOf({ reason, message }: ContractDenial): number {
  if (reason !== undefined) return message === undefined ? 1 : 0;
  return message === undefined ? 3 : 2;
}

/** Of two messages the longer one comes first: it may contain the other. */
function lengthOf(messages: readonly DenialMessage[]): number {
  return Math.max(0, ...messages.map((one) => (typeof one === "string" ? one : one.pattern).length));
}

function asList<T>(value: OneOrMore<T>): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

/** A denial as received. */
export interface DenialText {
  readonly status: number | undefined;
  /** The gateway's reason code, if it names one. */
  readonly reason: string | undefined;
  /** Its body. */
  readonly text: () => string;
}

/**
 * The specification's reason for a denial; the gateway's own code if the contract does not map it.
 *
 * A gateway's denials may look alike. They are then read as the first of them, and {@link readAs} maps expected reasons
 * accordingly.
 */
export function specReason(
  contract: readonly DenialWords[] | undefined,
  { status, reason, text }: DenialText,
): string | undefined {
  return findDenial(contract ?? [], { status, code: reason, body: text })?.reason ?? reason;
}

/** The reasons that a status may have, by the specification or the contract. */
export function reasonsOf(contract: readonly DenialWords[] | undefined, status: number | undefined): string[] {
  return (contract ?? DENIALS).filter((one) => one.status === status).map(({ reason }) => reason);
}

/** The status that a contract gives a denial. */
export function statusOfDenial({ denials }: DenialContract, reason: Reason): number {
  return denials?.[reason]?.status ?? denial(reason).status;
}

/** The reason that a denial is read as under a contract. */
export function readAs(contract: DenialContract, reason: Reason): string {
  const all = denialWords(contract);
  const own = all?.find((one) => one.reason === reason);
  if (all === undefined || own === undefined) return reason;
  const alike = all.find(
    ({ status, words, messages }) =>
      status === own.status &&
      JSON.stringify(messages) === JSON.stringify(own.messages) &&
      (words === own.words || (words?.some((word) => own.words?.includes(word)) ?? false)),
  );
  return alike?.reason ?? reason;
}
