import { useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import type { Choice } from '../../shared/ui/controls/Combobox.tsx';
import { fleet } from '../api.ts';
import { reachabilityLook } from '../looks.ts';
import { useSearched, withChosen } from './useSearched.ts';

/**
 * The hosts and clusters on which a deployment can run. The value of a choice is its kind and its
 * id.
 */
export function useTargets(chosen: string): {
  readonly choices: readonly Choice[];
  readonly onSearch: (text: string) => void;
  readonly isSearching: boolean;
} {
  const { onSearch, query, isTyping } = useSearched();
  const hosts = useQuery(fleet.read('listHosts', { query: { ...query, engine: 'docker,podman' } }));
  const clusters = useQuery(fleet.read('listClusters', { query }));
  const { host_id = '', cluster_id = '' } = targetOf(chosen) ?? {};
  const host = useQuery({ ...fleet.read('getHost', { params: { id: host_id } }), enabled: host_id !== '' });
  const cluster = useQuery({ ...fleet.read('getCluster', { params: { id: cluster_id } }), enabled: cluster_id !== '' });
  const choices = [
    { value: '', label: t('Automatic'), detail: t('the fleet chooses') },
    ...withChosen(clusters.data?.clusters, cluster.data?.cluster).map(({ id, name, reachability }) => ({
      value: `cluster:${id}`,
      label: name,
      detail: `${t('cluster')}, ${reachabilityLook({ reachability }).label}`,
    })),
    ...withChosen(hosts.data?.hosts, host.data?.host).map(({ id, name, engine, reachability }) => ({
      value: `host:${id}`,
      label: name,
      detail: `${engine}, ${reachabilityLook({ reachability }).label}`,
    })),
  ];
  return { choices, onSearch, isSearching: isTyping || hosts.isFetching || clusters.isFetching };
}

interface Target {
  readonly host_id?: string;
  readonly cluster_id?: string;
}

/** A target of a request from the value of a choice. */
export function targetOf(value: string): Target | null {
  const [kind, id] = value.split(':');
  if (id === undefined) return null;
  return kind === 'cluster' ? { cluster_id: id } : { host_id: id };
}
