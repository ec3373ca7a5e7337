import { useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import type { Choice } from '../../shared/ui/Combobox.tsx';
import { fleet } from '../api.ts';
import { reachabilityLook } from '../looks.ts';

/** The hosts and clusters on which a deployment can run. The value of a choice is its kind and its id. */
export function useTargets(): readonly Choice[] {
  const query = { limit: 100, sort: 'name' } as const;
  const hosts = useQuery(fleet.read('listHosts', { query: { ...query, engine: 'docker,podman' } }));
  const clusters = useQuery(fleet.read('listClusters', { query }));
  return [
    { value: '', label: t('Automatic'), detail: t('the fleet chooses') },
    ...(clusters.data?.clusters ?? []).map(({ id, name, reachability }) => ({
      value: `cluster:${id}`,
      label: name,
      detail: `${t('cluster')}, ${reachabilityLook({ reachability }).label}`,
    })),
    ...(hosts.data?.hosts ?? []).map(({ id, name, engine, reachability }) => ({
      value: `host:${id}`,
      label: name,
      detail: `${engine}, ${reachabilityLook({ reachability }).label}`,
    })),
  ];
}

/** A target of a request from the value of a choice. */
export function targetOf(value: string) {
  const [kind, id] = value.split(':');
  if (id === undefined) return null;
  return kind === 'cluster' ? { cluster_id: id } : { host_id: id };
}
