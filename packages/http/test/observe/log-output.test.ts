import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { anAgent, endFixtures, portOf, request, start } from '../fixture-process.ts';

afterEach(endFixtures);

/** The log line of a request with this path is about 15 kB long. */
const LONG_PATH = `/${'x'.repeat(15_000)}`;

async function sendRequests(port: number, count: number): Promise<void> {
  const agent = anAgent();
  for (let sent = 0; sent < count; sent += 1) expect((await request(port, LONG_PATH, agent)).status).toBe(404);
}

async function droppedLines(port: number): Promise<number> {
  const { body } = await request(port, '/metrics');
  return Number(/^log_lines_dropped_total (\d+)$/m.exec(body)?.[1]);
}

test('a service whose log is not read answers requests, drops log lines, and stops on SIGTERM', async () => {
  const service = start();
  const port = await portOf(service);
  service.child.stdout?.pause();
  await sendRequests(port, 250);
  expect(await droppedLines(port)).toBeGreaterThan(0);
  const exit = once(service.child, 'exit');
  service.child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});

test('a service logs the number of dropped lines when its log is read again', async () => {
  const service = start();
  const port = await portOf(service);
  service.child.stdout?.pause();
  await sendRequests(port, 250);
  service.child.stdout?.resume();
  const { level, dropped } = await service.entry('log lines were dropped');
  expect(level).toBe(40);
  expect(dropped).toBeGreaterThan(0);
  expect(dropped).toBe(await droppedLines(port));
});

test('a service that stops writes the lines that its reader has not read yet', async () => {
  const service = start();
  const port = await portOf(service);
  service.child.stdout?.pause();
  await sendRequests(port, 60);
  service.child.kill('SIGINT');
  while (await isListening(port));
  service.child.stdout?.resume();
  expect(await service.ended).toBe(0);
  const messages = service.entries().map(({ message }) => message);
  expect(messages.filter((message) => message === 'request')).toHaveLength(60);
  expect(messages.at(-1)).toBe('stopped');
});

const isListening = (port: number) =>
  request(port, '/healthz').then(
    () => true,
    () => false,
  );

test('a service whose log was closed by its reader answers requests, and counts the lines as dropped', async () => {
  const service = start();
  const port = await portOf(service);
  service.child.stdout?.destroy();
  await sendRequests(port, 3);
  expect(await droppedLines(port)).toBeGreaterThan(0);
});

test('a command that fails writes all lines of its log before it exits', async () => {
  const service = start({ file: 'command.mjs', environment: { LINES: '1000' } });
  service.child.stdout?.pause();
  while (service.errors() === '') await once(service.child.stderr ?? service.child, 'data');
  service.child.stdout?.resume();
  expect(await service.ended).toBe(1);
  expect(service.errors()).toBe('The service cannot start.\n');
  expect(service.entries().map(({ message }) => message)).toEqual(
    Array.from({ length: 1000 }, (_, index) => `line ${index + 1}`),
  );
});

test('a command that fails ends, even if its log is not read', async () => {
  const service = start({ file: 'command.mjs', environment: { LINES: '5000' } });
  service.child.stdout?.pause();
  expect((await once(service.child, 'exit'))[0]).toBe(1);
  expect(service.errors()).toBe('The service cannot start.\n');
});
