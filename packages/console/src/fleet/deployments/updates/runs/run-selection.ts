import { listFilters } from '../../list/filters.ts';

/** The most deployments of a run. A browser does not load the contract, which states it. */
export const MAX_DEPLOYMENTS = 500;

/** The parameters of the address that select the deployments of a run: ids, or the filters of their list. */
export const selectionParameters = ['chosen', ...listFilters] as const;

export type SelectionParameters = Readonly<Record<(typeof selectionParameters)[number], string>>;

/** What a request selects. */
export type RunSelection =
  | { readonly template: string }
  | { readonly label: string }
  | { readonly deployment_ids?: string[]; readonly application_ids?: string[] };

/** Whether nothing restricts the selection, so that it also contains the applications. */
export const selectsAll = (parameters: SelectionParameters): boolean =>
  Object.values(parameters).every((value) => value === '');

/** The ids of chosen deployments; undefined if filters select them. */
export const chosenOf = ({ chosen }: SelectionParameters): string[] | undefined =>
  chosen === '' ? undefined : chosen.split(',').slice(0, MAX_DEPLOYMENTS);

/** The filter that the service applies itself, if it is the only one; undefined if the ids of the deployments must be read. */
export function ownFilterOf({ template, label, ...others }: SelectionParameters): RunSelection | undefined {
  if (Object.values(others).some((value) => value !== '')) return undefined;
  if (template !== '' && label === '' && !template.includes(',')) return { template };
  return label !== '' && template === '' ? { label } : undefined;
}
