interface Excess {
  /** Admitted beyond what the limit had left: nothing. */
  readonly admitted: number;
  /** How many of them capacity that became free meanwhile may explain. */
  readonly room: number;
  readonly limit: number;
  readonly unit: string;
}

/** By how much a limit was exceeded, with the interval that the time of the measurement leaves: `18 to 20 requests (90 to 100 %)`. */
export function excessText({ admitted, room, limit, unit }: Excess): string {
  if (admitted === 0) return `0 ${unit} beyond the limit of ${limit}`;
  const least = Math.max(0, admitted - room);
  const percent = (count: number) => Math.round((count / limit) * 100);
  if (least === admitted) return `${admitted} ${unit} beyond the limit of ${limit} (${percent(admitted)} %)`;
  return `${least} to ${admitted} ${unit} beyond the limit of ${limit} (${percent(least)} to ${percent(admitted)} %)`;
}
