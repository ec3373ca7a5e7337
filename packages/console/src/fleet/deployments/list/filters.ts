/** The filters of the list of deployments that select those of an update run, too. */
export const listFilters = [
  'search',
  'phase',
  'label',
  'template',
  'host_id',
  'cluster_id',
  'created_by',
  'template_state',
  'template_status',
  'advisory',
] as const;
