import { readFile } from 'node:fs/promises';
import { fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { print } from '../output.ts';

interface ImportOptions extends Common {
  readonly force?: boolean;
}

/** Replaces the mirror of a fleet with the catalog in a bundle. */
export const importBundle: Action<ImportOptions> = async ([file = ''], options) => {
  requireConsent(options);
  const bundle = await readFile(file);
  await confirm(`Replace the catalog of the fleet with that of ${file}?`, options);
  const state = await reply(
    fleetOf(options).POST('/api/v1/catalog/bundle', {
      params: { query: given({ force: options.force }) },
      headers: { 'Content-Type': 'application/gzip' },
      // The generated type of a file is text.
      body: bundle as unknown as string,
      bodySerializer: (bytes) => bytes,
    }),
  );
  const { last_sync: last, counts, organization } = state;
  await print(state, {
    format: options.output,
    as: () => ({
      templates: counts.templates,
      categories: counts.categories,
      updated: last?.updated ?? 0,
      removed: last?.removed ?? 0,
      organization: organization?.slug ?? '',
    }),
  });
  return undefined;
};
