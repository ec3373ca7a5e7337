import type { EnvRequest } from '@svc/contract/fleet';
import type { StoredEnv } from '../render/env.ts';

/** What has a place in the order of a plan. */
interface Ordered {
  readonly name: string;
  /** The names of the deployments whose values or addresses it receives. */
  readonly needs: readonly string[];
  /** The names of the deployments that it runs. */
  readonly runs: readonly string[];
}

/** The names of the deployments whose values or addresses an environment receives. */
export const namesNeeded = (env: EnvRequest | StoredEnv): string[] => [...new Set(Object.values(env).flatMap(namesIn))];

function namesIn(value: EnvRequest[string] | StoredEnv[string]): string[] {
  if (typeof value === 'string') return [];
  if ('compose' in value)
    return Object.values(value.with).flatMap((reference) => ('deployment' in reference ? reference.deployment : []));
  return 'deployment' in value ? [value.deployment] : [];
}

/**
 * Puts each after those that it needs, and otherwise keeps the order. `cycle` names those of a cycle,
 * for which there is no order.
 */
export function inOrder<T extends Ordered>(
  all: readonly T[],
): { readonly ordered: T[]; readonly cycle: readonly string[] } {
  const byName = new Map(all.flatMap((each) => each.runs.map((name) => [name, each] as const)));
  const ordered: T[] = [];
  const done = new Set<string>();
  for (const start of all) {
    // A path instead of recursion: a chain of bindings can have as many members as a plan.
    const path: { readonly each: T; next: number }[] = [{ each: start, next: 0 }];
    const onPath = new Set([start.name]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      if (done.has(top.each.name)) {
        onPath.delete(path.pop()?.each.name ?? '');
        continue;
      }
      const needed = top.each.needs[top.next];
      top.next += 1;
      if (needed === undefined) {
        done.add(top.each.name);
        ordered.push(top.each);
        continue;
      }
      const other = byName.get(needed);
      if (!other || other === top.each || done.has(other.name)) continue;
      if (onPath.has(other.name)) {
        const names = path.map(({ each }) => each.name);
        return { ordered: [...all], cycle: [...names.slice(names.indexOf(other.name)), other.name] };
      }
      path.push({ each: other, next: 0 });
      onPath.add(other.name);
    }
  }
  return { ordered, cycle: [] };
}
