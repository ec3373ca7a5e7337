import { fileURLToPath } from 'node:url';
import { changeMessage, queryInteger } from '@svc/contract';
import { COMMAND_TIMEOUTS, createSealer, migrateDatabase, prepareDatabase } from '@svc/database';
import { acceptHangUps, doctorUsage, exitCodes, type Program, parseOptions, preparationOf, printing } from '@svc/http';
import { z } from 'zod';
import { readDatabaseSettings, readKeySettings } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { version } from './version.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma/hub', import.meta.url));

const SIGNER = 'a program that signs what it reads from stdin, and prints the signature';

const kind = { value: 'template|application', help: 'what the slug is of; default: template' };

const rootOptions = {
  root: { value: '<file>', help: 'the root key; with --signer, its public key. Required' },
  signer: { value: '<command>', help: SIGNER },
  days: { value: '<number>', help: 'how long the keyring is valid (default 90)' },
};

/**
 * The program of the hub. Its commands read the environment of the process. Each loads its own
 * modules when it runs, so that the others start faster.
 */
export const program: Program = {
  service: 'hub',
  version,
  commands: {
    serve: {
      summary: 'run the service',
      run: async () => {
        acceptHangUps();
        const { startHub } = await import('./start.ts');
        await startHub(prismaDir, async (running) =>
          (await import('./commands/doctor.ts')).checksOfRunning(prismaDir, running),
        );
        return undefined;
      },
    },
    migrate: printing('apply pending database migrations', async () => {
      const applied = await migrateDatabase({ prismaDir, ...preparationOf(readDatabaseSettings(process.env)) });
      return applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`;
    }),
    doctor: {
      ...doctorUsage,
      run: async (input) => (await import('./commands/doctor.ts')).doctor(prismaDir).run(input),
    },
    'rotate-keys': printing('encrypt all values again with the first of ENCRYPTION_KEYS', async () => {
      const { ENCRYPTION_KEYS: keys } = readKeySettings(process.env);
      const { rotateKeys } = await import('./commands/rotate-keys.ts');
      return (await withDatabase((database) => rotateKeys(database, createSealer(keys)))).join('\n');
    }),
    import: {
      ...printing('apply a folder of YAML files to the catalog', async ({ argument: folder, options }) => {
        const parsed = parseOptions(importOptions, options);
        const { prune: prunes, yes, 'dry-run': dryRun, 'max-deletions': max, message } = parsed;
        const prune = prunes ? { max, isConfirmed: yes } : undefined;
        const { importCatalog } = await import('./commands/import.ts');
        return (await withDatabase((database) => importCatalog(database, { folder, dryRun, prune, message }))).join(
          '\n',
        );
      }),
      argument: '<folder>',
      options: {
        'dry-run': { help: 'only print what would change' },
        prune: { help: 'also delete what no file describes; requires --yes' },
        yes: { help: 'confirm the deletions of --prune' },
        'max-deletions': { value: '<count>', help: 'the maximum number of deletions of --prune (default 10)' },
        message: {
          value: '<text>',
          help: 'why the templates and applications change, for their history and their changelogs',
        },
      },
    },
    export: {
      ...printing(
        'write the catalog to a folder of YAML files, only those that differ',
        async ({ argument: folder, options: { prune = false } }) => {
          const { exportCatalog } = await import('./commands/export.ts');
          return (await withDatabase((database) => exportCatalog(database, { folder, prune: prune === true }))).join(
            '\n',
          );
        },
      ),
      argument: '<folder>',
      options: { prune: { help: 'also delete the files of what the hub does not have' } },
    },
    lint: {
      summary: 'check a folder of YAML files without a database, and name probable mistakes in applications',
      run: async ({ argument: folder }) => {
        const { lintFolder } = await import('./commands/lint.ts');
        const { lines, isClean } = await lintFolder(folder);
        console.log(lines.join('\n'));
        return isClean ? exitCodes.success : exitCodes.failure;
      },
      argument: '<folder>',
    },
    history: {
      ...printing(
        'print the revisions of a template or an application, also of a deleted one',
        async ({ argument: slug, options }) => {
          const { history } = await import('./commands/history.ts');
          return withDatabase(history(slug, options));
        },
      ),
      argument: '<slug>',
      options: { kind, json: { help: 'print JSON' } },
    },
    restore: {
      ...printing(
        'restore an earlier revision of a template or an application',
        async ({ argument: slug, options }) => {
          const { restore } = await import('./commands/history.ts');
          return withDatabase(restore(slug, options));
        },
      ),
      argument: '<slug>',
      options: {
        kind,
        revision: { value: '<number>', help: 'required' },
        message: { value: '<text>', help: 'why, for the history and the changelog' },
      },
    },
    advise: {
      ...printing(
        'publish an advisory about revisions of a template or an application',
        async ({ argument: slug, options }) => {
          const { advise } = await import('./commands/history.ts');
          return withDatabase(advise(slug, options));
        },
      ),
      argument: '<slug>',
      options: {
        kind,
        severity: { value: 'note|warning|critical', help: 'required' },
        message: { value: '<text>', help: 'required' },
        from: { value: '<revision>', help: 'the first revision that it concerns; required' },
        to: { value: '<revision>', help: 'the last one; by default also all later ones' },
        url: { value: '<url>', help: 'an https URL with more information' },
      },
    },
    'withdraw-advisory': {
      ...printing('withdraw an advisory', async ({ argument: id }) => {
        const { withdrawAdvisory } = await import('./commands/history.ts');
        return withDatabase(withdrawAdvisory(id));
      }),
      argument: '<id>',
    },
    'keys new': {
      ...printing('create a key of a publisher, without a database', async ({ argument: file, options }) => {
        const { newKey } = await import('./commands/publishing/keys.ts');
        return (await newKey(file, options)).join('\n');
      }),
      argument: '<file>',
      options: { algorithm: { value: 'Ed25519|ES256', help: 'default: Ed25519' } },
    },
    'keys keyring': {
      ...printing('create or renew the keyring of a folder', async ({ argument: folder, options }) => {
        const { writeKeyring } = await import('./commands/publishing/keys.ts');
        return (await writeKeyring(folder, options)).join('\n');
      }),
      argument: '<folder>',
      options: {
        ...rootOptions,
        publisher: { value: '<slug>', help: 'required for the first keyring' },
        name: { value: '<name>', help: 'the name of the publisher; default: its slug' },
        key: { value: '<file>', help: 'a signing key that is added; required for the first keyring' },
      },
    },
    'keys rotate': {
      ...printing('retire the signing keys with a new one, or announce another root key', async (input) => {
        const { rotateKeys } = await import('./commands/publishing/keys.ts');
        return (await rotateKeys(input.argument, input.options)).join('\n');
      }),
      argument: '<folder>',
      options: {
        ...rootOptions,
        key: { value: '<file>', help: 'the new signing key' },
        'next-root': { value: '<file>', help: 'the root key that may sign the next keyring' },
      },
    },
    'keys revoke': {
      ...printing('revoke a signing key: nothing that it signed counts any longer', async (input) => {
        const { revokeKey } = await import('./commands/publishing/keys.ts');
        return (await revokeKey(input.argument, input.options)).join('\n');
      }),
      argument: '<folder>',
      options: { ...rootOptions, kid: { value: '<thumbprint>', help: 'required' } },
    },
    pin: {
      summary: 'write the digest of each image into the templates of a folder',
      run: async ({ argument: folder, options }) => {
        const { pinFolder } = await import('./commands/publishing/pin.ts');
        const { lines, isCurrent } = await pinFolder(folder, options);
        console.log(lines.join('\n'));
        return isCurrent ? exitCodes.success : exitCodes.failure;
      },
      argument: '<folder>',
      options: {
        check: { help: 'only compare; exits with 1 if a tag has moved or has no digest' },
        'registry-auth': { value: '<file>', help: 'credentials of registries, as docker login writes them' },
        allow: { value: 'http,loopback,private', help: 'also ask registries that are no public https addresses' },
      },
    },
    sign: {
      ...printing(
        'sign the templates and applications of a folder that are not signed',
        async ({ argument: folder, options }) => {
          const { signFolder } = await import('./commands/publishing/sign.ts');
          return (await signFolder(folder, options)).join('\n');
        },
      ),
      argument: '<folder>',
      options: {
        key: { value: '<file>', help: 'the signing key; with --signer, its public key. Required' },
        signer: { value: '<command>', help: SIGNER },
        all: { help: 'sign all of them again' },
      },
    },
    verify: {
      summary: 'verify the templates and applications of a folder as a fleet does',
      run: async ({ argument: folder, options }) => {
        const { verifyFolder } = await import('./commands/publishing/sign.ts');
        const { lines, isAccepted } = await verifyFolder(folder, options);
        console.log(lines.join('\n'));
        return isAccepted ? exitCodes.success : exitCodes.failure;
      },
      argument: '<folder>',
      options: {
        root: { value: '<file>', help: 'the public root key that is trusted; required' },
        'require-digest': { help: 'refuse images that are not named by digest' },
      },
    },
    bundle: {
      ...printing(
        'write the catalog, signatures and keyrings to a file for a fleet without a connection',
        async (input) => {
          const { bundleCatalog } = await import('./commands/bundle.ts');
          return withDatabase(bundleCatalog(input.argument, input.options));
        },
      ),
      argument: '<file>',
      options: { organization: { value: '<slug>', help: 'as it sees the catalog; default: as everybody does' } },
    },
    'create-organization': {
      ...printing('create an organization', async ({ options }) => {
        const { createOrganization } = await import('./commands/organizations.ts');
        return JSON.stringify(await withDatabase(createOrganization(options)));
      }),
      options: {
        name: { value: '<name>', help: 'required' },
        slug: { value: '<slug>', help: 'required' },
        tier: { value: 'free|pro|enterprise', help: 'default: free' },
      },
    },
    'create-api-key': {
      ...printing('create an API key and print it; it is not shown again', async ({ options }) => {
        const { createApiKey } = await import('./commands/organizations.ts');
        return JSON.stringify(await withDatabase(createApiKey(options)));
      }),
      options: {
        organization: { value: '<slug>', help: 'required' },
        name: { value: '<name>', help: 'required' },
      },
    },
  },
};

const importOptions = z.strictObject({
  'dry-run': z.boolean().default(false),
  prune: z.boolean().default(false),
  yes: z.boolean().default(false),
  'max-deletions': queryInteger(0, 1_000_000).prefault('10'),
  message: changeMessage,
});

async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const preparation = preparationOf(readDatabaseSettings(process.env));
  await prepareDatabase({ prismaDir, ...preparation });
  // If a connection is lost, the statement of the command fails.
  const database = openDatabase(preparation.databaseUrl, () => undefined, COMMAND_TIMEOUTS);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
