import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@svc/testing';
import { stdoutTarget } from '../src/stdout.ts';

/** A stream whose reader takes one write at a time, when the test says so. */
function aStream() {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      waiting.push(() => {
        written.push(String(chunk));
        done();
      });
    },
  });
  return { stream, written, waiting, readOne: () => waiting.shift()?.() };
}

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    position: `${index}`,
    at: new Date(index),
    data: { id: index, path: `/${'a'.repeat(1000)}\u2028` },
  }));
const options = { base: { service: 'hub' }, member: 'audit' };
const never = new AbortController().signal;

test('each row is a line of JSON with its time, its service and its entry', async () => {
  const { stream, written, waiting, readOne } = aStream();
  const target = stdoutTarget({ stream, ...options });
  const sending = target.send(rowsOf(2).map(target.format), never);
  await eventually('the lines are written', () => waiting.length === 1);
  readOne();
  await sending;
  const lines = written.join('').split('\n');
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[1] ?? '')).toEqual({
    time: '1970-01-01T00:00:00.001Z',
    service: 'hub',
    audit: { id: 1, path: expect.stringContaining('aaa') },
  });
});

test('rows are written in parts of at most 64 KiB, each after the one before was read, and confirmed after the last one', async () => {
  const { stream, written, waiting, readOne } = aStream();
  const target = stdoutTarget({ stream, ...options });
  let isConfirmed = false;
  const sending = target.send(rowsOf(200).map(target.format), never).then(() => {
    isConfirmed = true;
  });
  for (let part = 1; part <= 4; part += 1) {
    await eventually('a part is written', () => waiting.length === 1);
    expect(stream.writableLength).toBeLessThanOrEqual(64 * 1024);
    expect(isConfirmed).toBe(false);
    readOne();
  }
  await sending;
  expect(written.join('').split('\n')).toHaveLength(201);
});

test('while the stream is not read, attempts end with their signal, and no further attempt writes anything', async () => {
  const { stream, written, waiting, readOne } = aStream();
  const target = stdoutTarget({ stream, ...options });
  const rows = rowsOf(3).map(target.format);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await expect(target.send(rows, AbortSignal.timeout(5))).rejects.toThrow('Standard output is not read.');
  }
  await pause(1);
  expect(waiting).toHaveLength(1);
  readOne();
  const sending = target.send(rows, never);
  await eventually('the next attempt writes', () => waiting.length === 1);
  readOne();
  await sending;
  expect(written).toEqual([rows.join(''), rows.join('')]);
});
