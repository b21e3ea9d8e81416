/** Text for Markdown: angle brackets would be interpreted as tags, asterisks as emphasis. Code spans stay as they are. */
export function escapedMarkdown(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "&lt;").replaceAll("*", "\\*")))
    .join("");
}

/** The same in a cell of a table, where a `|` must be escaped in code spans too. */
export function markdownCell(text: string): string {
  return escapedMarkdown(text).replaceAll("|", "\\|");
}
