import { fold, searchText, slugOf } from '@svc/contract';
import { invalid } from '@svc/http';

/** The columns by which templates are searched and sorted. */
export const derived = ({ name, description }: { readonly name: string; readonly description: string }) => ({
  search_text: searchText(name, description),
  sort_name: fold(name),
});

/** A slug for what was named without one. @throws 400 for a name that gives none. */
export function slugFrom(name: string): string {
  const slug = slugOf(name);
  if (slug === '' || slug === 'updates') throw invalid([{ path: 'slug', message: 'is required: the name gives none' }]);
  return slug;
}
