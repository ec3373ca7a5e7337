// Imported into a fleet whose CPU is profiled: SIGUSR2 starts a profile, and the next one writes it to the file PROFILES.
import fs from 'node:fs';
import { Session } from 'node:inspector/promises';

const { PROFILES } = process.env;
let session;
process.on('SIGUSR2', async () => {
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = undefined;
  fs.writeFileSync(`${PROFILES}.part`, JSON.stringify(profile));
  fs.renameSync(`${PROFILES}.part`, PROFILES);
});
