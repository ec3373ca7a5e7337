import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createAuthority } from '../../../testing/src/servers/authority.ts';
import { type ChangedSettings, reloadOnHangUp } from '../../src/index.ts';
import { acceptHangUps } from '../../src/process/reload.ts';
import { commonSettings, readSettingsAndFiles } from '../../src/process/settings.ts';
import { aLog } from '../world.ts';

const schema = z.object(commonSettings({ port: '1' }));
type Settings = z.output<typeof schema>;

const folder = mkdtempSync(path.join(tmpdir(), 'reload-'));
const trusted = getCACertificates('default');
acceptHangUps();
afterAll(() => {
  setDefaultCACertificates(trusted);
  process.removeAllListeners('SIGHUP');
  rmSync(folder, { recursive: true });
});

const textOf = (at = '') => readFileSync(at, 'utf8');
const file = (name: string, text: string) => {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
};

/** Settings in files, and what was put into effect. */
function aService(prepare?: (changed: ChangedSettings<Settings>) => Promise<void>) {
  const environment = {
    DATABASE_URL_FILE: file('database-url', 'postgresql://a:first@127.0.0.1/c\n'),
    METRICS_TOKEN_FILE: file('metrics-token', 'the first token of the metrics\n'),
  };
  const inEffect: Settings[] = [];
  const changes: string[][] = [];
  const { log, entries, entry } = aLog();
  const read = () => readSettingsAndFiles(schema, environment);
  reloadOnHangUp({
    log,
    initial: read(),
    read,
    prepare: async (changed) => {
      await prepare?.(changed);
      return () => {
        inEffect.push(changed.after);
        changes.push(['DATABASE_URL', 'METRICS_TOKEN'].filter((name) => changed.has(name as keyof Settings)));
      };
    },
  });
  /** Sends the signal. @returns the line that it causes */
  const hangUp = async () => {
    const before = entries.length;
    process.emit('SIGHUP');
    return entry((each) => entries.indexOf(each) >= before);
  };
  return { hangUp, inEffect, changes };
}

test('files that were changed are put into effect together, and the log names the settings without their values', async () => {
  const { hangUp, inEffect, changes } = aService();
  file('database-url', 'postgresql://a:second@127.0.0.1/c');
  file('metrics-token', 'the second token of the metrics');
  const line = await hangUp();
  expect(line).toMatchObject({ level: 30, changed: ['DATABASE_URL', 'METRICS_TOKEN'] });
  expect(JSON.stringify(line)).not.toMatch(/second/);
  expect(inEffect).toEqual([
    expect.objectContaining({
      DATABASE_URL: 'postgresql://a:second@127.0.0.1/c',
      METRICS_TOKEN: 'the second token of the metrics',
    }),
  ]);
  expect(changes).toEqual([['DATABASE_URL', 'METRICS_TOKEN']]);
  expect(await hangUp()).toMatchObject({ changed: [] });
});

test('nothing changes if one of the files is invalid, and the log names it', async () => {
  const { hangUp, inEffect } = aService();
  file('database-url', 'postgresql://a:second@127.0.0.1/c');
  file('metrics-token', 'short');
  expect(await hangUp()).toMatchObject({
    level: 50,
    message: 'the files of the settings were read again, and nothing was changed',
    reasons: ['METRICS_TOKEN: must have at least 16 characters'],
  });
  expect(inEffect).toEqual([]);
  file('metrics-token', 'the second token of the metrics');
  expect(await hangUp()).toMatchObject({ changed: ['DATABASE_URL', 'METRICS_TOKEN'] });
});

test('an empty file does not remove a secret', async () => {
  const { hangUp, inEffect } = aService();
  file('metrics-token', '');
  expect(await hangUp()).toMatchObject({
    reasons: ['METRICS_TOKEN: its file is empty. A restart is needed for that'],
  });
  expect(inEffect).toEqual([]);
});

test('nothing changes if what the settings refer to is not usable', async () => {
  const { hangUp, inEffect } = aService(async () => {
    throw new Error('DATABASE_URL: password authentication failed for user "a"');
  });
  file('database-url', 'postgresql://a:wrong@127.0.0.1/c');
  expect(await hangUp()).toMatchObject({ reasons: ['DATABASE_URL: password authentication failed for user "a"'] });
  expect(inEffect).toEqual([]);
});

test('a signal during a change causes another one after it', async () => {
  let go: () => void = () => undefined;
  const { hangUp, inEffect } = aService(() => new Promise((resolve) => (go = resolve)));
  file('metrics-token', 'the second token of the metrics');
  const first = hangUp();
  await new Promise(setImmediate);
  file('metrics-token', 'the third token of the metrics');
  process.emit('SIGHUP');
  process.emit('SIGHUP');
  const release = setInterval(() => go(), 1);
  await first;
  const last = await hangUp();
  clearInterval(release);
  expect(last).toMatchObject({ level: 30 });
  expect(inEffect.at(-1)).toMatchObject({ METRICS_TOKEN: 'the third token of the metrics' });
});

test('the authorities of a file replace those of the file before, and a file without one changes nothing', async () => {
  const [one, other] = ['one', 'other'].map((name) => createAuthority(folder, name).certificate);
  const certificates = path.join(folder, 'authorities');
  writeFileSync(certificates, textOf(one));
  const environment = { DATABASE_URL: 'postgresql://a@127.0.0.1/c', NODE_EXTRA_CA_CERTS: certificates };
  const { log, entries, entry } = aLog();
  const read = () => readSettingsAndFiles(schema, environment);
  reloadOnHangUp({ log, initial: read(), read, prepare: async () => () => undefined });
  const hangUp = async () => {
    const before = entries.length;
    process.emit('SIGHUP');
    return entry((each) => entries.indexOf(each) >= before);
  };
  const names = new Map([one, other].map((at) => [textOf(at).trim(), at]));
  /** Which of the two authorities new connections trust. */
  const own = () => getCACertificates('default').flatMap((each) => names.get(each.trim()) ?? []);
  writeFileSync(certificates, 'no certificate');
  expect(await hangUp()).toMatchObject({ reasons: [expect.stringContaining('contains no certificate')] });
  expect(own()).toEqual([]);
  writeFileSync(certificates, textOf(one) + textOf(other));
  expect(await hangUp()).toMatchObject({ changed: ['NODE_EXTRA_CA_CERTS'] });
  expect(own().sort()).toEqual([one, other].sort());
  writeFileSync(certificates, textOf(other));
  await hangUp();
  expect(own()).toEqual([other]);
  expect(getCACertificates('default').length).toBeGreaterThan(50);
});
