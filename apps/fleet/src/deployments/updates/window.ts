import type { FieldError } from '@svc/contract';
import { type UpdateWindow, weekdays } from '@svc/contract/fleet';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The formats of time zones that were used. There are about 600 names of zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for an unknown zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'iso8601', hourCycle: 'h23', ...numeric });
  formats.set(timeZone, format);
  return format;
}

/**
 * What the clocks of a zone show at an instant, to the minute, as the milliseconds of the same time in UTC. Such times are
 * compared with each other.
 */
function clockAt(instant: number, timeZone: string): number {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
}

/**
 * The first instant at which the clocks of a zone show a time or a later one: of a time that exists twice the first one, and for
 * one that a change of the clocks skips the next existing minute.
 */
function firstInstantOf(clock: number, timeZone: string): number {
  const offsets = [-DAY_MS, DAY_MS].map((distance) => clockAt(clock + distance, timeZone) - (clock + distance));
  const candidates = offsets.map((offset) => clock - offset).toSorted((one, other) => one - other);
  const found = candidates.find((instant) => clockAt(instant, timeZone) === clock);
  if (found !== undefined) return found;
  // The clocks skip the time between the candidates: before the change they show an earlier one, and after it a later one.
  let [before = clock, after = clock] = candidates;
  while (after - before > MINUTE_MS) {
    const middle = before + Math.floor((after - before) / 2 / MINUTE_MS) * MINUTE_MS;
    if (clockAt(middle, timeZone) >= clock) after = middle;
    else before = middle;
  }
  return after;
}

const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};

/** Whether automatic updates begin at an instant. */
export function isOpen({ days, start, end, time_zone }: UpdateWindow, at: Date): boolean {
  const now = at.getTime();
  const today = Math.floor(clockAt(now, time_zone) / DAY_MS) * DAY_MS;
  const crossesMidnight = minutesOf(end) < minutesOf(start);
  return [today - DAY_MS, today, today + DAY_MS].some((day) => {
    if (!days.includes(weekdayOf(day))) return false;
    const opens = firstInstantOf(day + minutesOf(start) * MINUTE_MS, time_zone);
    const closes = firstInstantOf(day + (crossesMidnight ? DAY_MS : 0) + minutesOf(end) * MINUTE_MS, time_zone);
    return opens <= now && now < closes;
  });
}

/** 1970-01-01 was a Thursday. */
const weekdayOf = (day: number) => weekdays[(day / DAY_MS + 3) % 7] ?? 'mon';

/** What is wrong with a window, beside its form. */
export function problemsOfWindow({ start, end, time_zone }: UpdateWindow): FieldError[] {
  const same = start === end ? [{ path: 'updates.window.end', message: 'must not be equal to start' }] : [];
  if (isZone(time_zone)) return same;
  const message = `must be the name of a time zone, such as ${nearestZone(time_zone)}`;
  return [...same, { path: 'updates.window.time_zone', message }];
}

/** Whether a name is one of the IANA database. An offset such as +01:00 is none. */
function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The known zone whose name differs least from a text. */
function nearestZone(text: string): string {
  const zones = Intl.supportedValuesOf('timeZone');
  const [nearest] = zones
    .map((zone) => ({ zone, distance: distanceOf(text.toLowerCase(), zone.toLowerCase()) }))
    .toSorted((one, other) => one.distance - other.distance);
  return nearest?.zone ?? 'UTC';
}

/** The number of characters to insert, remove or replace. Both texts are short. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [line, character] of [...one].entries()) {
    const next = [line + 1];
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (character === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
