// The development identity provider: a real OpenID provider with a table of people whose password is known.
// For one machine and for tests; never part of a deployed service.
import { startIdentityProvider } from './server.ts';
import { parseSettings, SettingsError } from './settings.ts';

try {
  const provider = await startIdentityProvider(parseSettings(process.env));
  const stop = () => void provider.stop().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // Started by a runner that is gone, nobody would ever stop it.
  if (process.connected) process.once('disconnect', stop);
  console.log(`identity provider: ${provider.issuer}`);
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exitCode = 1;
}
