/**
 * A text without the given characters at its ends. Two loops: a pattern for the end restarts at every candidate, which takes
 * half a minute for a hundred thousand of them.
 */
export function trim(text: string, front: string, back: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && front.includes(text[from] as string)) from++;
  while (to > from && back.includes(text[to - 1] as string)) to--;
  return text.slice(from, to);
}
