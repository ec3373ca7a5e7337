// How precisely the clock of a host is known from responses whose dates have whole seconds.
import { createHostClock } from '../../src/engines/docker/clock.ts';
import { randomFrom } from '../random.ts';

const LATENCY_MS = 5;
const { next } = randomFrom(1);

/**
 * A host whose clock differs from that of this process. `respond` returns its time, and the time
 * that the fleet assumes.
 */
function aHost(difference: number) {
  const clock = createHostClock();
  let offset = Date.parse('2026-01-01T00:00:00Z') + difference;
  return {
    set: (milliseconds: number) => {
      offset += milliseconds;
    },
    respond: (sentAt: number) => {
      const time = sentAt + next() * LATENCY_MS + offset;
      const date = new Date(time).toUTCString();
      return { time, known: clock.timeOf(date, { sentAt, receivedAt: sentAt + LATENCY_MS }) };
    },
  };
}

test.each([0, 250, 999, -3_600_000])('the time of a host with a difference of %d ms becomes known', (difference) => {
  const host = aHost(difference);
  let last = host.respond(0);
  for (let at = 0; at < 100_000; at += 1000 * next()) {
    last = host.respond(at);
    expect(last.known).toBeLessThanOrEqual(last.time);
    expect(last.time - last.known).toBeLessThan(1000);
  }
  expect(last.time - last.known).toBeLessThan(50);
});

test.each([5000, -5000])('the clock of a host can be set by %d ms', (step) => {
  const host = aHost(0);
  for (let at = 0; at < 20_000; at += 300) host.respond(at);
  host.set(step);
  const { time, known } = host.respond(20_100);
  expect(known).toBeLessThanOrEqual(time);
  expect(time - known).toBeLessThan(1000);
});

test.each([undefined, 'yesterday'])('a response with the date %s has the time of this process', (date) => {
  const before = Date.now();
  const known = createHostClock().timeOf(date, { sentAt: 0, receivedAt: LATENCY_MS });
  expect(known).toBeGreaterThanOrEqual(before);
  expect(known).toBeLessThanOrEqual(Date.now());
});
