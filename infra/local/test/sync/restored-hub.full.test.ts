// A drill: the database of the hub is backed up, the catalog changes, and the backup is restored.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { StartedProcess } from '@svc/testing';
import { aDeployment, type Deployment } from './deployment.ts';

let deployment: Deployment;
let operator: string;
let hub: StartedProcess;
let folder: string;

/** Publishes one template per name with the command of the hub. */
async function publish(...names: readonly string[]): Promise<void> {
  fs.writeFileSync(path.join(folder, 'categories.yaml'), '- name: Drill\n  slug: drill\n');
  for (const name of names) {
    fs.writeFileSync(path.join(folder, 'templates', `${name}.yaml`), `name: ${name}\ncategory: drill\n`);
  }
  await deployment.command('hub', 'import', folder);
}

async function mirrored(): Promise<string[]> {
  const { body } = await deployment.fleet('GET', 'templates?limit=100', operator);
  return body.templates.map(({ name }) => name).sort();
}

beforeAll(async () => {
  deployment = await aDeployment();
  folder = fs.mkdtempSync(path.join(tmpdir(), 'restored-hub-'));
  fs.mkdirSync(path.join(folder, 'templates'));
  hub = await deployment.start('hub');
  await deployment.start('fleet', await deployment.forFleet());
  operator = await deployment.operatorToken();
});
afterAll(async () => {
  await deployment?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('a fleet converges to the catalog of a hub that was restored from an older backup, also after new changes', async () => {
  const sync = () => deployment.fleet('POST', 'sync', operator);
  await publish('kept');
  await sync();
  hub.child.kill('SIGTERM');
  await hub.ended;
  const backup = await deployment.backUp('hub');
  hub = await deployment.start('hub');
  await publish('lost-1', 'lost-2');
  await sync();
  expect(await mirrored()).toEqual(['kept', 'lost-1', 'lost-2']);

  hub.child.kill('SIGTERM');
  await hub.ended;
  await backup.restore();
  hub = await deployment.start('hub');
  fs.rmSync(path.join(folder, 'templates'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'templates'));
  await publish('new');
  expect((await sync()).body).toMatchObject({ status: 'fresh', last_sync: { full: true } });
  expect(await mirrored()).toEqual(['kept', 'new']);
  expect((await sync()).body).toMatchObject({ last_sync: { full: false, updated: 0, removed: 0 } });
  await backup.drop();
});
