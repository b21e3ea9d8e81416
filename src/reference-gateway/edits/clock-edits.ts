import { withHeader } from "../pipeline/response.ts";
import { always } from "./when.ts";
import { type Apply, onParcel } from "./wrap.ts";

/** An HTTP date `seconds` from now, according to a clock that is `aheadS` seconds ahead. */
export function dateIn(seconds: number, aheadS = 0): string {
  return new Date(Math.ceil(Date.now() / 1_000 + seconds + aheadS) * 1_000).toUTCString();
}

/** Every response has the `Date` of a clock that is `aheadS` seconds ahead. */
export function clockAhead(aheadS: number): Apply {
  return onParcel(always, (parcel) => ({
    ...parcel,
    headers: withHeader(parcel.headers, "Date", new Date(Date.now() + aheadS * 1_000).toUTCString()),
  }));
}
