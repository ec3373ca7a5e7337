import fs from 'node:fs';
import type { Lifetime } from './lifetime.ts';
import { requireFreePort } from './ports.ts';
import { endLastRun, openRunFile, type RunFile } from './run-file.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

// For its owner only. PostgreSQL refuses to be root: started by root it is another user, who must get to its own folder
// in there; every file and every other folder is root's only.
const folderMode = process.getuid?.() === 0 ? 0o711 : 0o700;

/** Takes the data folder and the ports for this run, making the folder when there is none. Throws StartError. */
export async function claimDataFolder({ dataDir, ports }: Settings, lifetime: Lifetime): Promise<RunFile> {
  const { wasKilled } = await endLastRun(dataDir);
  await requireFreePort('HUB_PORT', ports.hub);
  await requireFreePort('FLEET_PORT', ports.fleet);
  await requireFreePort('IDP_PORT', ports.identityProvider);
  // The PostgreSQL of a killed run may still hold its port; it is recognised and stopped when the new one starts.
  if (!wasKilled) await requireFreePort('POSTGRES_PORT', ports.postgres);
  try {
    fs.mkdirSync(dataDir, { recursive: true, mode: folderMode });
    fs.accessSync(dataDir, fs.constants.W_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // what fs throws always is one
    throw new StartError(
      `The data folder ${dataDir} can't be written (${code}): mend that, or choose another one with DATA_DIR.`,
      { cause },
    );
  }
  const runFile = openRunFile(dataDir);
  lifetime.atEnd(() => runFile.remove());
  return runFile;
}
