// The development identity provider: an OpenID provider with a fixed table of users, whose password is public.
// It is for development and tests, and must not be deployed.
import { startIdentityProvider } from './server.ts';
import { parseSettings, SettingsError } from './settings.ts';

try {
  const provider = await startIdentityProvider(parseSettings(process.env));
  const stop = () => void provider.stop().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // If the parent process has exited, nothing else stops this process.
  if (process.connected) process.once('disconnect', stop);
  console.log(`identity provider: ${provider.issuer}`);
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exitCode = 1;
}
