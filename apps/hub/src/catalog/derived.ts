import { fold, searchText, slugOf } from '@svc/contract';
import { invalid } from '@svc/http';

/**
 * The columns of a template that search and sorting use. They derive from its name and description.
 */
export const derivedColumns = ({ name, description }: { readonly name: string; readonly description: string }) => ({
  search_text: searchText(name, description),
  sort_name: fold(name),
});

/**
 * The slug of a resource that is created without a slug. @throws 400 if the name does not give a
 * valid slug
 */
export function defaultSlug(name: string): string {
  const slug = slugOf(name);
  if (slug === '' || slug === 'updates')
    throw invalid([{ path: 'slug', message: 'is required, because the name does not give a valid slug' }]);
  return slug;
}
