import { relative, resolve } from "node:path";

/** A place in a file that the user wrote. */
interface Place {
  readonly file: string;
  readonly line?: number | undefined;
}

/**
 * A workflow command of GitHub Actions, which annotates the job. What would end it is escaped: a line of output can itself be such a
 * command.
 *
 * @param message may have several lines.
 * @param place where GitHub shows the annotation in the diff; ignored if the file is outside the repository.
 */
export function workflowCommand(
  kind: "error" | "warning" | "notice",
  title: string,
  message: string,
  place?: Place,
): string {
  const properties = Object.entries({ ...inRepository(place), title }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${property(String(value))}`],
  );
  return `::${kind} ${properties.join(",")}::${data(message)}`;
}

/** GitHub expects paths relative to the repository root, but the job may run in a subfolder. */
function inRepository(place: Place | undefined): Place | undefined {
  if (place === undefined) return undefined;
  const file = relative(process.env["GITHUB_WORKSPACE"] ?? process.cwd(), resolve(place.file));
  return file.startsWith("..") ? undefined : { file, line: place.line };
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
