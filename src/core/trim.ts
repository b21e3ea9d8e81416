/**
 * A text without the given characters at its ends. Two walks: a pattern for the end begins anew at every candidate, which for
 * a hundred thousand of them takes half a minute.
 */
export function trim(text: string, front: string, back: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && front.includes(text[from] as string)) from++;
  while (to > from && back.includes(text[to - 1] as string)) to--;
  return text.slice(from, to);
}
