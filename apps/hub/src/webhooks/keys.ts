import { encryptionHealth, type Sealer } from '@svc/database';
import { type HealthCheck, Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { encryptionOf, missingKeys, WITHOUT_KEYS } from '../database/encryption.ts';

/** The encryption keys of the hub, which are optional. */
export interface Keys {
  /**
   * Returns what seals secrets, after a check that the keys belong to the database. It uses a connection of its own. @throws 409
   * encryption_not_configured without keys; Error if the keys do not belong to the database
   */
  sealer(): Promise<Sealer>;
  /** Whether secrets can be read, if there are some. The catalog does not need them, so that the hub is ready without. */
  health(): Promise<readonly HealthCheck[]>;
}

/** @param sealer undefined: `ENCRYPTION_KEYS` is not set */
export function createKeys(database: Pick<Database, 'client'>, sealer: Sealer | undefined): Keys {
  const encryption = encryptionOf(database);
  let isChecked = false;
  return {
    sealer: async () => {
      if (!sealer) {
        throw new Problem(
          'encryption_not_configured',
          `${WITHOUT_KEYS} The operator of the hub must set ENCRYPTION_KEYS and restart it.`,
        );
      }
      if (!isChecked) await encryption.check(sealer);
      isChecked = true;
      return sealer;
    },
    health: async () => {
      if (sealer) {
        const { state, ...found } = await encryptionHealth(encryption, sealer);
        return [{ ...found, state: state === 'failed' ? 'degraded' : state }];
      }
      const detail = await missingKeys(database);
      return detail === undefined ? [] : [{ name: 'encryption keys', state: 'degraded', detail }];
    },
  };
}
