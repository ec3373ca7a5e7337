import { fetchKeys } from '@svc/auth';
import { databaseChecks } from '@svc/database';
import {
  type Command,
  clockCheck,
  configurationCheck,
  createOutbound,
  type DoctorCheck,
  diskCheck,
  doctorCommand,
  failed,
  ok,
  portCheck,
  recordClock,
} from '@svc/http';
import { readConfig } from '../config.ts';
import { type Database, openDatabase } from '../database/client.ts';
import { version } from '../version.ts';
import { checkStoredValues } from './doctor-values.ts';

/** The checks run one statement at a time. `openDatabase` reserves connections, which they do not open. */
const CONNECTIONS = 6;
const ISSUER_LIMITS = { timeoutMs: 3000, maxBytes: 512 * 1024 };

/** The command that checks what the hub depends on. */
export const doctor = (prismaDir: string): Command =>
  doctorCommand({
    service: 'hub',
    version,
    prepare: () => {
      const { check, config } = configurationCheck(readConfig);
      const outbound = createOutbound(ISSUER_LIMITS);
      const clocks = new Map<string, number>();
      const folders: Record<string, string> = {};
      const onFolder = (folder: string) => {
        folders.database = folder;
      };
      let database: Database | undefined;
      const storedValues: DoctorCheck = {
        name: 'stored values',
        needs: ['schema'],
        run: () => {
          database ??= openDatabase(config().DATABASE_URL, () => undefined, { connections: CONNECTIONS });
          return checkStoredValues(database);
        },
      };
      const issuer: DoctorCheck = {
        name: 'issuer',
        run: async () => {
          const { OIDC_ISSUER } = config();
          try {
            const { keys } = await fetchKeys({
              issuer: OIDC_ISSUER,
              send: recordClock(clocks, 'issuer', outbound.send),
            });
            if (keys.length > 0) return ok(`${OIDC_ISSUER} publishes ${keys.length} signing keys.`);
            return failed(
              `${OIDC_ISSUER} publishes no signing keys.`,
              'Create a signing key at the identity provider.',
            );
          } catch (error) {
            return failed(
              `The signing keys of ${OIDC_ISSUER} cannot be fetched: ${reasonOf(error)}.`,
              'Check OIDC_ISSUER, which must equal the issuer in its discovery document, and that the hub can connect to it.',
            );
          }
        },
      };
      return {
        checks: [
          check,
          ...databaseChecks({ prismaDir, config, clocks, onFolder }),
          storedValues,
          issuer,
          clockCheck(clocks),
          portCheck(config),
          diskCheck(() => folders),
        ],
        close: async () => {
          await Promise.all([database?.close(), outbound.close()]);
        },
      };
    },
  });

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the response is not JSON';
  if (error instanceof Error && error.name === 'ZodError') return 'the response is not a discovery document or key set';
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}
