// Windows in all time zones of Node, near changes of the clocks, compared with an oracle that looks at each quarter of an hour.
import { type UpdateWindow, weekdays } from '@svc/contract/fleet';
import { byDepth, seed } from '@svc/testing';
import { isOpen, problemsOfWindow } from '../../../src/deployments/updates/window.ts';
import { randomFrom } from '../../random.ts';

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 96 * QUARTER_MS;
const { next: random } = randomFrom(seed);
/** The number of windows near each change of the clocks that is known to be difficult. */
const WINDOWS = byDepth({ short: 3, full: 20, long: 100 });

/** The clock of a zone as text that sorts by time, such as `2026-03-29 03:00`. */
function clockOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return (at: number) => format.format(at);
}

/** A quarter of an hour, with what the clock shows at its beginning. */
interface Quarter {
  readonly at: number;
  readonly clock: string;
}

/** The quarters of the days around an instant. */
const quartersAround = (middle: number, timeZone: string): Quarter[] => {
  const clock = clockOf(timeZone);
  const first = Math.floor((middle - 3 * DAY_MS) / QUARTER_MS) * QUARTER_MS;
  return Array.from({ length: 6 * 96 }, (_, index) => first + index * QUARTER_MS).map((at) => ({
    at,
    clock: clock(at),
  }));
};

const dateAfter = (date: string, days: number) =>
  new Date(Date.parse(`${date}T00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/** The intervals in which a window is open, each from the first quarter whose clock shows its start to that of its end. */
function oracle({ days, start, end }: UpdateWindow, quarters: readonly Quarter[]): (at: number) => boolean {
  const first = (clock: string) => quarters.find((quarter) => quarter.clock >= clock)?.at ?? Number.POSITIVE_INFINITY;
  const dates = [...new Set(quarters.map(({ clock }) => clock.slice(0, 10)))];
  const intervals = dates
    .filter((date) => days.includes(weekdays[(new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7] ?? 'mon'))
    .map((date) => ({
      opens: first(`${date} ${start}`),
      closes: first(`${dateAfter(date, end < start ? 1 : 0)} ${end}`),
    }));
  return (at) => intervals.some(({ opens, closes }) => opens <= at && at < closes);
}

/** The instants of a year at which the clocks of a zone change, to the quarter of an hour. */
function changesIn(year: number, timeZone: string): number[] {
  const clock = clockOf(timeZone);
  const offset = (at: number) => Date.parse(`${clock(at).replace(' ', 'T')}Z`) - at;
  const changes: number[] = [];
  for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += DAY_MS) {
    if (offset(day) === offset(day + DAY_MS)) continue;
    let [before, after] = [day, day + DAY_MS];
    while (after - before > QUARTER_MS) {
      const middle = before + Math.floor((after - before) / 2 / QUARTER_MS) * QUARTER_MS;
      if (offset(middle) === offset(before)) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
}

const timeOf = (quarter: number) =>
  `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`;

/** A window near the hours in which clocks change, on some days. */
function aWindow(time_zone: string): UpdateWindow {
  const start = Math.floor(random() * 16 + 92) % 96;
  const end = (start + 1 + Math.floor(random() * 20)) % 96;
  const days = weekdays.filter(() => random() < 0.7);
  return { days: days.length > 0 ? days : ['sun'], start: timeOf(start), end: timeOf(end), time_zone };
}

const zones = Intl.supportedValuesOf('timeZone');
const examined = byDepth({ short: zones.filter((_, index) => index % 12 === 0), full: zones, long: zones });

test.each([
  ['Europe/Berlin', '2026-03-29T00:30Z'],
  ['Europe/Berlin', '2026-10-25T00:30Z'],
  ['America/Havana', '2026-03-08T05:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
])('a window in %s is open as the clocks of the zone show near %s', (zone, at) => {
  const quarters = quartersAround(Date.parse(at), zone);
  for (let round = 0; round < WINDOWS; round++) {
    const window = aWindow(zone);
    const isExpected = oracle(window, quarters);
    const wrong = quarters
      .slice(96, -192)
      .filter((quarter) => isOpen(window, new Date(quarter.at)) !== isExpected(quarter.at));
    expect({ window, wrong }).toEqual({ window, wrong: [] });
  }
});

test('a window is open as the clocks of each zone show, also when they change', () => {
  let changes = 0;
  for (const zone of examined) {
    const middles = changesIn(2026, zone);
    changes += middles.length;
    for (const middle of [...middles, Date.UTC(2026, 5, 1 + Math.floor(random() * 28))]) {
      const quarters = quartersAround(middle, zone);
      const window = aWindow(zone);
      const isExpected = oracle(window, quarters);
      const near = quarters.filter(({ at }, index) => Math.abs(at - middle) <= DAY_MS && index % 2 === 0);
      const wrong = near.filter(({ at }) => isOpen(window, new Date(at)) !== isExpected(at));
      expect({ window, wrong }).toEqual({ window, wrong: [] });
    }
  }
  expect(changes).toBeGreaterThan(0);
});

test('a start that a change of the clocks skips becomes the next existing minute, and of one that exists twice the first counts', () => {
  const window: UpdateWindow = { days: ['sun'], start: '02:30', end: '04:00', time_zone: 'Europe/Berlin' };
  const at = (text: string) => isOpen(window, new Date(text));
  expect([at('2026-03-29T00:59Z'), at('2026-03-29T01:00Z'), at('2026-03-29T01:59Z'), at('2026-03-29T02:00Z')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  // 02:00 to 03:00 exists twice: from 00:00Z and from 01:00Z.
  expect([at('2026-10-25T00:29Z'), at('2026-10-25T00:30Z'), at('2026-10-25T01:10Z'), at('2026-10-25T03:00Z')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('a window that crosses midnight begins on its days, and ends on the next one', () => {
  const window: UpdateWindow = { days: ['fri'], start: '22:00', end: '02:00', time_zone: 'UTC' };
  const at = (text: string) => isOpen(window, new Date(text));
  expect([at('2026-11-27T21:59Z'), at('2026-11-27T22:00Z'), at('2026-11-28T01:59Z'), at('2026-11-28T02:00Z')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(at('2026-11-27T01:00Z')).toBe(false);
});

test('a window has an end other than its start, and a zone of the IANA database', () => {
  const window: UpdateWindow = { days: ['fri'], start: '22:00', end: '02:00', time_zone: 'Europe/Berlin' };
  expect(problemsOfWindow(window)).toEqual([]);
  expect(problemsOfWindow({ ...window, time_zone: 'UTC' })).toEqual([]);
  expect(problemsOfWindow({ ...window, end: '22:00', time_zone: 'Europe/Berln' })).toEqual([
    { path: 'updates.window.end', message: 'must not be equal to start' },
    { path: 'updates.window.time_zone', message: 'must be the name of a time zone, such as Europe/Berlin' },
  ]);
  for (const time_zone of ['+01:00', 'CET+1', '', 'Europe'])
    expect(problemsOfWindow({ ...window, time_zone })).toMatchObject([{ path: 'updates.window.time_zone' }]);
});
