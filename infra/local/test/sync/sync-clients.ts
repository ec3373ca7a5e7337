// The clients that must pass the same scenario.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../src/settings.ts';
import type { Deployment } from './deployment.ts';

/** A template in the copy of a client. */
export type Copied = Readonly<Record<string, unknown>> & { readonly id: string };

export interface SyncClient {
  /** Syncs once. @returns whether it reached the end */
  sync(): Promise<boolean>;
  copy(): Promise<Copied[]>;
}

interface Connection {
  readonly deployment: Deployment;
  /** The URL of the hub, or of a proxy in front of it. */
  readonly hub: string;
  readonly key: string;
}

const SCRIPT = path.join(repository, 'infra/sync-client/sync.py');

/** The client of docs/sync.md in Python, which keeps its copy in a file. */
export function pythonClient(python: string, { hub, key }: Connection): SyncClient & { readonly remove: () => void } {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'sync-client-'));
  const file = path.join(folder, 'catalog.json');
  return {
    sync: () =>
      promisify(execFile)(python, [SCRIPT, hub, file], { env: { HUB_API_KEY: key } }).then(
        () => true,
        (error: { readonly stderr: string }) => {
          if (!/^(the hub answered|no complete answer)/.test(error.stderr)) throw error;
          return false;
        },
      ),
    copy: async () => {
      if (!fs.existsSync(file)) return [];
      const { templates }: { templates: Record<string, Copied> } = JSON.parse(fs.readFileSync(file, 'utf8'));
      return Object.values(templates);
    },
    remove: () => fs.rmSync(folder, { recursive: true }),
  };
}

/** A fleet, which keeps its copy in its database. */
export async function fleetClient({ deployment, hub, key }: Connection): Promise<SyncClient> {
  await deployment.start('fleet', { HUB_URL: hub, HUB_API_KEY: key });
  const token = await deployment.operatorToken();
  return {
    sync: async () => {
      const { status } = await deployment.fleet('POST', 'sync', token);
      if (status !== 200 && status !== 502) throw new Error(`POST /catalog/sync answered ${status}`);
      return status === 200;
    },
    copy: async () => {
      const { body } = await deployment.fleet('GET', 'templates?limit=100', token);
      return body.templates as unknown as Copied[]; // all members; the type has the one that other tests use
    },
  };
}
