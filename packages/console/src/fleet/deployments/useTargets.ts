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
  const { host, cluster } = useTarget(targetOf(chosen));
  const choices = [
    { value: '', label: t('Automatic'), detail: t('the fleet chooses') },
    ...withChosen(clusters.data?.clusters, cluster).map(({ id, name, reachability }) => ({
      value: `cluster:${id}`,
      label: name,
      detail: `${t('cluster')}, ${reachabilityLook({ reachability }).label}`,
    })),
    ...withChosen(hosts.data?.hosts, host).map(({ id, name, engine, reachability }) => ({
      value: `host:${id}`,
      label: name,
      detail: `${engine}, ${reachabilityLook({ reachability }).label}`,
    })),
  ];
  return { choices, onSearch, isSearching: isTyping || hosts.isFetching || clusters.isFetching };
}

/** A target in a request or a response. */
export interface Target {
  readonly host_id?: string | null | undefined;
  readonly cluster_id?: string | null | undefined;
}

/** The name of a target; undefined until it is known. */
export function useTargetName(
  target: Target | null | undefined,
): { readonly kind: 'host' | 'cluster'; readonly name: string } | undefined {
  const { host, cluster } = useTarget(target);
  if (host) return { kind: 'host', name: host.name };
  return cluster && { kind: 'cluster', name: cluster.name };
}

/** The host or the cluster of a target, as soon as it is known. */
function useTarget(target: Target | null | undefined) {
  const hostId = target?.host_id ?? '';
  const clusterId = target?.cluster_id ?? '';
  const host = useQuery({ ...fleet.read('getHost', { params: { id: hostId } }), enabled: hostId !== '' }).data?.host;
  const cluster = useQuery({ ...fleet.read('getCluster', { params: { id: clusterId } }), enabled: clusterId !== '' })
    .data?.cluster;
  // Until the service has responded, a query has the response for the target before.
  return { host: host?.id === hostId ? host : undefined, cluster: cluster?.id === clusterId ? cluster : undefined };
}

/** A target of a request from the value of a choice. */
export function targetOf(value: string): { readonly host_id?: string; readonly cluster_id?: string } | null {
  const [kind, id] = value.split(':');
  if (id === undefined) return null;
  return kind === 'cluster' ? { cluster_id: id } : { host_id: id };
}
