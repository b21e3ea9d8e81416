interface Settling {
  readonly microUsd: number;
  readonly day: number;
  readonly visibleAtUs: number;
}

/** What one key has spent, as it is saved. Whole micro-dollars. */
export interface SavedSpend {
  readonly spentMicroUsd: number;
  /** By UTC day, whole days since the Unix epoch. */
  readonly spentByDay: Readonly<Record<string, number>>;
}

/** Days whose tally is kept. More than one, so that a clock that is shifted and shifted back finds its old tally again. */
const KEPT_DAYS = 16;

/** Spend of one key: per UTC day for its daily cap, and in its lifetime for its budget. Whole micro-dollars. */
export class KeySpend {
  readonly #byDay = new Map<number, number>();
  #lifetime = 0;
  #reserved = 0;
  #settling: Settling[] = [];

  /** Reserved charges of requests in flight. */
  get reserved(): number {
    return this.#reserved;
  }

  reserve(microUsd: number): void {
    this.#reserved += microUsd;
  }

  release(microUsd: number): void {
    this.#reserved -= microUsd;
  }

  /**
   * Books a charge: for the lifetime immediately, for the day when it has settled.
   *
   * @param day UTC day that the charge belongs to.
   * @param visibleAtUs monotonic time from which the day's tally shows it.
   * @param nowUs monotonic time of the booking.
   */
  charge(microUsd: number, day: number, visibleAtUs: number, nowUs: number): void {
    this.chargeLifetime(microUsd);
    this.chargeDay(microUsd, day, visibleAtUs, nowUs);
  }

  chargeLifetime(microUsd: number): void {
    this.#lifetime += microUsd;
  }

  chargeDay(microUsd: number, day: number, visibleAtUs: number, nowUs: number): void {
    if (visibleAtUs <= nowUs) this.#book(microUsd, day);
    else this.#settling.push({ microUsd, day, visibleAtUs });
  }

  onDay(day: number, nowUs: number): number {
    this.#settle(nowUs);
    return this.#byDay.get(day) ?? 0;
  }

  get inLifetime(): number {
    return this.#lifetime;
  }

  /** Unsettled charges count as booked: their settling time would be lost in a restart. */
  get saved(): SavedSpend {
    const byDay = new Map(this.#byDay);
    for (const { microUsd, day } of this.#settling) byDay.set(day, (byDay.get(day) ?? 0) + microUsd);
    return { spentMicroUsd: this.#lifetime, spentByDay: Object.fromEntries(byDay) };
  }

  restore({ spentMicroUsd, spentByDay }: SavedSpend): void {
    this.#lifetime = spentMicroUsd;
    for (const [day, microUsd] of Object.entries(spentByDay)) this.#byDay.set(Number(day), microUsd);
  }

  #settle(nowUs: number): void {
    if (this.#settling.length === 0) return;
    const open = this.#settling;
    this.#settling = open.filter((charge) => charge.visibleAtUs > nowUs);
    for (const charge of open) if (charge.visibleAtUs <= nowUs) this.#book(charge.microUsd, charge.day);
  }

  #book(microUsd: number, day: number): void {
    this.#byDay.set(day, (this.#byDay.get(day) ?? 0) + microUsd);
    if (this.#byDay.size <= KEPT_DAYS) return;
    const oldest = Math.min(...this.#byDay.keys());
    this.#byDay.delete(oldest);
  }
}
