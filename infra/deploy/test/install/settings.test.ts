// The files with settings of the packages, and the commands of docs/deploy.md that fill them.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { secretNamesOf } from '@svc/http';
import * as fleet from '../../../../apps/fleet/src/config.ts';
import * as hub from '../../../../apps/hub/src/config.ts';
import { commandsIn, installation } from './deploy-page.ts';

const read = (file: string) => fs.readFileSync(path.resolve(import.meta.dirname, '../../..', file), 'utf8');

describe.each([
  ['hub', hub],
  ['fleet', fleet],
] as const)('the settings of the package of the %s', (service, { schema }) => {
  const lines = read(`install/${service}.env`).split('\n');

  test('name only settings of the service, also in comments, and files in its own folder', () => {
    const known = [...Object.keys(schema.shape), ...secretNamesOf(schema).map((name) => `${name}_FILE`)];
    const settings = lines.flatMap((line) => [...line.matchAll(/^#?([A-Z_]+)=(.*)$/g)]);
    expect(settings.length).toBeGreaterThan(8);
    for (const [, name = '', value = ''] of settings) {
      expect(known).toContain(name);
      if (name.endsWith('_FILE')) expect(value).toMatch(new RegExp(`^/etc/svc-${service}/secrets/[\\w-]+$`));
    }
  });

  test('are valid with the settings that the documentation adds', () => {
    const added = installation().flatMap(({ text }) => {
      const [, body = ''] =
        new RegExp(`>> /etc/svc-${service}/${service}.env << 'END'\\n([^]*?)\\nEND\\n`).exec(text) ?? [];
      return body.split('\n');
    });
    const values = Object.fromEntries(
      [...lines, ...added].flatMap((line) =>
        [...line.matchAll(/^([A-Z_]+)=(.*)$/g)].map(([, name, value]) => [name, value]),
      ),
    );
    // The files of this machine, and those that create-database and the documentation write.
    const secrets = {
      ...{ DATABASE_URL: 'postgresql://a:b@127.0.0.1/c', DATABASE_URL_FILE: '', NODE_EXTRA_CA_CERTS: '' },
      ...{ ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`, ENCRYPTION_KEYS_FILE: '' },
      ...(service === 'fleet' && { HUB_API_KEY: 'svcc_a', HUB_API_KEY_FILE: '' }),
    };
    const { readConfig } = service === 'hub' ? hub : fleet;
    expect(added.length).toBeGreaterThan(3);
    expect(readConfig({ ...values, ...secrets })).toMatchObject({
      MIGRATE_ON_START: false,
      PUBLIC_URL: `https://${service}.example.com`,
      TRUST_PROXY: ['127.0.0.1'],
    });
  });
});

test('the documentation installs a hub and a fleet with at most 20 commands', () => {
  const commands = installation().flatMap(({ text }) => commandsIn(text));
  expect(commands).toEqual(
    expect.arrayContaining(['systemctl enable --now svc-hub', 'systemctl enable --now svc-fleet']),
  );
  expect(commands.length).toBeLessThanOrEqual(20);
});

test('commands are counted without the lines of here-documents', () => {
  expect(commandsIn("a\ncat >> b << 'END'\nc\nd\nEND\n# e\nf && g\n")).toEqual(['a', "cat >> b << 'END'", 'f ', ' g']);
});
