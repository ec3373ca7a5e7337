/** How far the clock of the service is ahead of that of this browser, in milliseconds. */
let ahead = 0;

/** Notes the header `Date` of a response, which was received just now. */
export function noteServerTime(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (Number.isFinite(time)) ahead = time - Date.now();
}

/** The time of the service, to about a second, in milliseconds. */
export const serverNow = (): number => toServerTime(Date.now());

/** The time of the service at a time of this browser, to about a second. */
export const toServerTime = (local: number): number => local + ahead;
