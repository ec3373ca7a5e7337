import { useQueries } from '@tanstack/react-query';
import { fleet } from '../api.ts';
import { type Target, useTargetName } from '../deployments/useTargets.ts';
import type { Names } from './document.ts';

/** What a request refers to by ids. */
interface Referring {
  readonly target?: Target | null | undefined;
  readonly volumes?: Readonly<Record<string, { readonly storage_id?: string | undefined }>> | undefined;
}

/** The names of what a request refers to; undefined until all of them are known. */
export function useNames({ target, volumes = {} }: Referring): Names | undefined {
  const chosen = useTargetName(target);
  const ids = Object.values(volumes).flatMap(({ storage_id = [] }) => storage_id);
  const read = useQueries({ queries: ids.map((id) => fleet.read('getStorage', { params: { id } })) });
  const names = new Map(read.flatMap(({ data }) => (data ? [[data.storage.id, data.storage.name] as const] : [])));
  if (ids.some((id) => !names.has(id)) || (target && !chosen)) return undefined;
  return {
    target: chosen && (chosen.kind === 'host' ? { host: chosen.name } : { cluster: chosen.name }),
    volumes: Object.fromEntries(names),
  };
}
