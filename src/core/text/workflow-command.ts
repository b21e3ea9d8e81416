/**
 * A workflow command of GitHub Actions, which annotates the job. What would end it is escaped: a line of output can itself be such a
 * command.
 *
 * @param message may have several lines.
 * @param place where GitHub shows the annotation in the diff; `file` is relative to the repository root.
 */
export function workflowCommand(
  kind: "error" | "warning" | "notice",
  title: string,
  message: string,
  place?: { readonly file: string; readonly line?: number | undefined },
): string {
  const properties = Object.entries({ ...place, title }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${property(String(value))}`],
  );
  return `::${kind} ${properties.join(",")}::${data(message)}`;
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
