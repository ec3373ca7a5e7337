import manifest from '../package.json' with { type: 'json' };

/** The version of the client, which is that of the services of the same release. */
export const { version } = manifest;
