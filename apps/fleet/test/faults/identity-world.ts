import path from 'node:path';
import { displayPrefix, hashSecretToken, newSecretToken } from '@svc/auth';
import { prepareFaults, queryOn, type RunningService } from '@svc/testing/faults';
import { aKey } from '../process-world.ts';

const MAIN = path.resolve(import.meta.dirname, '../../dist/main.js');

interface FleetSettings {
  readonly databaseUrl: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Additional environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Prepares the helpers of fault tests. Everything that they start is stopped after the last test of
 * the file.
 */
export function prepareFleetFaults() {
  const ENCRYPTION_KEYS = aKey('of-the-test');
  const { aService, ...faults } = prepareFaults();

  /** Starts a fleet in its own process. @returns the process when it is ready */
  const aFleet = ({ databaseUrl, port, environment }: FleetSettings): Promise<RunningService> =>
    aService({ main: MAIN, port, environment: { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS, ...environment } });
  return { ...faults, aFleet };
}

/** Creates an MCP token of an admin in the database. @returns the secret of the token */
export async function anAdminToken(databaseUrl: string): Promise<string> {
  const secret = newSecretToken('svcm_');
  await queryOn(databaseUrl)(
    `INSERT INTO tokens (id, name, role, token_hash, token_prefix, created_by)
     VALUES (gen_random_uuid(), 'of the test', 'admin', $1, $2, 'test')`,
    [hashSecretToken(secret), displayPrefix(secret)],
  );
  return secret;
}
