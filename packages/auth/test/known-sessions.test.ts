import { createKnownSessions } from '../src/index.ts';

test('a credential that was verified has its session, and others have none', () => {
  const known = createKnownSessions();
  known.remember('a-credential', 'session-1');
  expect(known.of('a-credential')).toBe('session-1');
  expect(known.of('another')).toBeUndefined();
  expect(known.of('')).toBeUndefined();
  expect(known.of(undefined)).toBeUndefined();
});
