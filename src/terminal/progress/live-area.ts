/** Lines at the bottom of a terminal that are redrawn in place; other text scrolls above them. */
export class LiveArea {
  readonly #stream: NodeJS.WriteStream;
  #shown: readonly string[] = [];

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Replaces the lines shown before. */
  draw(lines: readonly string[]): void {
    if (lines.join("\n") === this.#shown.join("\n")) return;
    this.#stream.write(this.#erasure() + lines.map((line) => `${line}\n`).join(""));
    this.#shown = lines;
  }

  /** Writes text above the lines. */
  above(text: string): void {
    this.#stream.write(`${this.#erasure()}${text}\n${this.#shown.map((line) => `${line}\n`).join("")}`);
  }

  clear(): void {
    this.#stream.write(this.#erasure());
    this.#shown = [];
  }

  /** A terminal that became narrower has wrapped the lines. */
  #erasure(): string {
    const columns = this.#stream.columns || 80;
    const rows = this.#shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
    // Line by line: tmux moves a screen that is cleared as a whole into the scrollback.
    return "\x1b[1A\r\x1b[2K".repeat(rows);
  }
}
