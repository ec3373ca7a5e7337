import { EventEmitter, once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../../testing/src/run/eventually.ts';
import { readTarget, subscribe } from '../src/index.ts';
import { serverUrl as connectionString, rowsOf } from './on-database.ts';

const applicationName = 'notifications-test';
const events = new EventEmitter();
const errors: Error[] = [];
const subscription = () =>
  subscribe('some_channel', () => events.emit('notified'), {
    target: () => readTarget(connectionString),
    applicationName,
    onError: (error) => errors.push(error),
  });
const connections = () =>
  rowsOf(connectionString, `SELECT pid FROM pg_stat_activity WHERE application_name = '${applicationName}'`);
const endConnections = () =>
  rowsOf(
    connectionString,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${applicationName}'`,
  );

afterEach(async () => {
  // The server notices the end of a connection later.
  await eventually('the connections have ended', connections, { until: ({ length }) => length === 0 });
});

test('a subscriber is called when its connection is open, and for each notification', async () => {
  const opened = once(events, 'notified');
  const open = subscription();
  await opened;
  const notified = once(events, 'notified');
  await rowsOf(connectionString, 'NOTIFY some_channel');
  await notified;
  await open.close();
  expect(errors).toEqual([]);
});

test('a lost connection is reported and opened again, and the subscriber is called because it may have missed notifications', async () => {
  const opened = once(events, 'notified');
  const open = subscription();
  await opened;
  const openedAgain = once(events, 'notified');
  await endConnections();
  await openedAgain;
  const notified = once(events, 'notified');
  await rowsOf(connectionString, 'NOTIFY some_channel');
  await notified;
  await open.close();
  expect(errors.length).toBeGreaterThan(0);
});

test('a subscription can be closed while the database is not reachable', async () => {
  const failed = once(events, 'failed');
  const open = subscribe('some_channel', () => undefined, {
    target: () => readTarget('postgresql://nobody@127.0.0.1:1/none'),
    applicationName,
    onError: () => events.emit('failed'),
  });
  await failed;
  await open.close();
});
