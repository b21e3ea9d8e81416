import type { DenialMessage } from "../../dialects/index.ts";
import type { Target } from "../../target/index.ts";

/** What a target expresses differently from the specification, for the first line of a verdict. */
export function describeContract({ contract, headers }: Pick<Target, "contract" | "headers">): string[] {
  const { reasonFrom, actionHint, denials = {} } = contract;
  const said = Object.entries(denials).flatMap(([reason, denial]) => {
    if (denial === undefined) return [];
    const { status, reason: own, message } = denial;
    const words = own === undefined ? [] : [[own].flat().join(" or ")];
    const messages = message === undefined ? [] : [[message].flat().map(quoted).join(" or ")];
    return [`${reason} as ${[...(status === undefined ? [] : [String(status)]), ...words, ...messages].join(" ")}`];
  });
  return [
    ...(reasonFrom === undefined || reasonFrom === "header" ? [] : [`reasons at ${reasonFrom}`]),
    ...(headers.reason.toLowerCase() === "x-service-error-code" ? [] : [`reasons in ${headers.reason}`]),
    ...(headers.action.toLowerCase() === "x-service-action" ? [] : [`action hints in ${headers.action}`]),
    ...(actionHint === false ? ["no action hints"] : []),
    ...said,
  ];
}

const quoted = (message: DenialMessage): string =>
  typeof message === "string" ? `"${message}"` : `/${message.pattern}/`;
