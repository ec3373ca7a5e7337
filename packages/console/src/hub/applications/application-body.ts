import type { ApplicationBody, HubOutput } from '../api.ts';

export type ReadFile = HubOutput<'readApplicationFile'>;

/** The request that creates the application of a file. An empty slug is left out: the hub derives it from the name. */
export function bodyOfFile({ application }: ReadFile, message: string): ApplicationBody {
  const { slug, category_id, ...rest } = application;
  // The hub has read the file with the rules for new applications.
  return { ...rest, category_id: category_id ?? '', message, ...(slug !== '' && { slug }) } as ApplicationBody;
}
