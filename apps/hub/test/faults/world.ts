import path from 'node:path';
import { type LocalIssuer, startLocalIssuer } from '@svc/testing';
import { ask, prepareFaults, type RunningService } from '@svc/testing/faults';

/** The built entry point of the hub. */
export const MAIN = path.resolve(import.meta.dirname, '../../dist/main.js');
const AUDIENCE = 'https://hub.example.test';
const ADMIN_EMAIL = 'root@example.test';

interface HubSettings {
  readonly databaseUrl: string;
  readonly issuer: string;
  /** Default: any free port. */
  readonly port?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Functions that start processes for tests. All processes end after the last test of the file. */
export function prepareHubFaults() {
  const { aService, ...faults } = prepareFaults();

  const anIssuer = async (): Promise<LocalIssuer> => {
    const issuer = await startLocalIssuer(AUDIENCE);
    faults.closers.push(issuer.close);
    return issuer;
  };
  /** A hub in its own process, ready to serve. */
  const aHub = ({ databaseUrl, issuer, port, environment }: HubSettings): Promise<RunningService> => {
    const oidc = { OIDC_ISSUER: issuer, OIDC_AUDIENCE: AUDIENCE, SUPERADMIN_EMAILS: ADMIN_EMAIL };
    return aService({ main: MAIN, port, environment: { DATABASE_URL: databaseUrl, ...oidc, ...environment } });
  };
  return { ...faults, anIssuer, aHub };
}

/** The Authorization header of an administrator. */
export const adminOf = async (issuer: LocalIssuer, claims: { readonly iss?: string } = {}): Promise<string> => {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return `Bearer ${await issuer.sign('root', { email: ADMIN_EMAIL, email_verified: true, exp, ...claims })}`;
};

/** Creates a public category for the templates of a test. @returns its id */
export async function createCategory(hub: { readonly url: string }, admin: string, name = 'Faults'): Promise<string> {
  const { status, body } = await ask(`${hub.url}/api/v1/admin/categories`, {
    method: 'POST',
    authorization: admin,
    body: { name },
  });
  expect(status).toBe(201);
  return body.category.id;
}
