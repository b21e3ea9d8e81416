import { DENIALS, denial, type Reason } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";

/** How a gateway expresses one denial; stored with the record, so that a later judgement reads alike. */
export interface DenialWords {
  /** The specification's reason. */
  readonly reason: Reason;
  readonly status: number;
  /** The gateway's words for it. Dialects may differ in them. */
  readonly words: readonly string[];
  /** Text that the error message contains, where words alone do not tell two denials apart. */
  readonly message?: string | undefined;
}

/** The denials as a target's contract has them; `undefined` when it says nothing about them. */
export function denialWords({
  contract: { denials = {}, reasonFrom },
}: Pick<Target, "contract">): DenialWords[] | undefined {
  if (Object.keys(denials).length === 0 && (reasonFrom === undefined || reasonFrom === "header")) return undefined;
  const all = DENIALS.map(({ reason }): DenialWords => {
    const { status, reason: own, message } = denials[reason] ?? {};
    return {
      reason,
      status: status ?? denial(reason).status,
      words: own === undefined ? [reason] : [own].flat(),
      ...(message === undefined ? {} : { message }),
    };
  });
  // Where a message tells two denials apart, the one that names it is looked at first.
  return all.sort((a, b) => Number(b.message !== undefined) - Number(a.message !== undefined));
}

/**
 * The specification's reason for what a gateway said; its own reason when the contract does not know it.
 *
 * Two denials may look alike at a gateway. Both are then read as the first of them, and {@link readAs} says so for what is
 * expected.
 */
export function specReason(
  contract: readonly DenialWords[] | undefined,
  said: { readonly status: number | undefined; readonly reason: string | undefined; readonly text: () => string },
): string | undefined {
  if (contract === undefined || said.reason === undefined) return said.reason;
  const { reason } = said;
  const own = contract.find(
    ({ status, words, message }) =>
      status === said.status && words.includes(reason) && (message === undefined || said.text().includes(message)),
  );
  return own?.reason ?? reason;
}

/** The reasons that a status may have: of the specification, or as the contract has it. */
export function reasonsOf(contract: readonly DenialWords[] | undefined, status: number | undefined): Reason[] {
  return (contract ?? DENIALS).filter((one) => one.status === status).map(({ reason }) => reason);
}

/** As which reason a denial is read at a target. */
export function readAs(target: Pick<Target, "contract">, reason: Reason): string {
  const contract = denialWords(target);
  const own = contract?.find((one) => one.reason === reason);
  if (contract === undefined || own === undefined) return reason;
  const alike = contract.find(
    ({ status, words, message }) =>
      status === own.status && message === own.message && words.some((word) => own.words.includes(word)),
  );
  return alike?.reason ?? reason;
}

/** What a target expresses in its own way, in words for the first line of a verdict. */
export function contractInWords({ contract, headers }: Pick<Target, "contract" | "headers">): string[] {
  const { reasonFrom, actionHint, denials = {} } = contract;
  const said = Object.entries(denials).flatMap(([reason, denial]) => {
    if (denial === undefined) return [];
    const { status, reason: own, message } = denial;
    const words = own === undefined ? [] : [[own].flat().join(" or ")];
    const parts = [
      ...(status === undefined ? [] : [String(status)]),
      ...words,
      ...(message === undefined ? [] : [`"${message}"`]),
    ];
    return [`${reason} as ${parts.join(" ")}`];
  });
  return [
    ...(reasonFrom === undefined || reasonFrom === "header" ? [] : [`reasons at ${reasonFrom}`]),
    ...(headers.reason.toLowerCase() === "x-service-error-code" ? [] : [`reasons in ${headers.reason}`]),
    ...(headers.action.toLowerCase() === "x-service-action" ? [] : [`action hints in ${headers.action}`]),
    ...(actionHint === false ? ["no action hints"] : []),
    ...said,
  ];
}
