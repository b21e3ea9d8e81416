/**
 * A workflow command of GitHub Actions, which annotates the job. What would end it is escaped: a line of output can itself be such a
 * command.
 *
 * @param message may have several lines.
 */
export function workflowCommand(kind: "error" | "warning" | "notice", title: string, message: string): string {
  return `::${kind} title=${data(title).replaceAll(":", "%3A").replaceAll(",", "%2C")}::${data(message)}`;
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
