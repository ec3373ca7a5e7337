import fs from 'node:fs';
import type { Lifetime } from './lifetime.ts';
import { requireFreePort } from './ports.ts';
import { endLastRun, openRunFile, type RunFile } from './run-file.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

// Only the owner has access. If root starts the product, PostgreSQL runs as another user, which must be able to enter
// its own folder in the data folder. All files and the other folders are accessible only for root.
const folderMode = process.getuid?.() === 0 ? 0o711 : 0o700;

/** Reserves the data folder and the ports for this run, and creates the folder if it does not exist. Throws StartError. */
export async function claimDataFolder({ dataDir, ports }: Settings, lifetime: Lifetime): Promise<RunFile> {
  const { wasKilled } = await endLastRun(dataDir);
  await requireFreePort('HUB_PORT', ports.hub);
  await requireFreePort('FLEET_PORT', ports.fleet);
  await requireFreePort('IDP_PORT', ports.identityProvider);
  // PostgreSQL of a killed run can still use its port. It is recognized and stopped when PostgreSQL starts.
  if (!wasKilled) await requireFreePort('POSTGRES_PORT', ports.postgres);
  try {
    fs.mkdirSync(dataDir, { recursive: true, mode: folderMode });
    fs.accessSync(dataDir, fs.constants.W_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // fs throws only such errors
    throw new StartError(
      `The data folder ${dataDir} is not writable (${code}). Change its permissions, or choose another folder with DATA_DIR.`,
      { cause },
    );
  }
  const runFile = openRunFile(dataDir);
  lifetime.atEnd(() => runFile.remove());
  return runFile;
}
