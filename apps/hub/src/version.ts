import { readVersion } from '@svc/http';

/** The version of the hub. */
export const version = readVersion(new URL('../package.json', import.meta.url));
