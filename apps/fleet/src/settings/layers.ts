import type { Stored } from './store.ts';

/** Where a value in effect comes from. */
export type Source = 'environment' | 'set' | 'default';

/** What is in effect: what was set, over the environment, over what is so by default. */
export interface Layered<V> {
  readonly values: V;
  readonly sources: { readonly [K in keyof V]: Source };
}

/** Some of the values. */
export type Some<V> = { readonly [K in keyof V]?: V[K] | undefined };

export function layer<V extends object>(defaults: V, environment: Some<V>, set: Some<V>): Layered<V> {
  const names = Object.keys(defaults) as (keyof V)[];
  const sourceOf = (name: keyof V): Source =>
    set[name] !== undefined ? 'set' : environment[name] !== undefined ? 'environment' : 'default';
  return {
    values: Object.fromEntries(
      names.map((name) => [name, set[name] ?? (set[name] === null ? null : environment[name]) ?? defaults[name]]),
    ) as V,
    sources: Object.fromEntries(names.map((name) => [name, sourceOf(name)])) as Layered<V>['sources'],
  };
}

/** The address that something in effect goes to, and the one of the environment. */
export interface Addresses {
  readonly inEffect: string | null;
  readonly ofEnvironment: string | undefined;
}

/**
 * The secret in effect, for the address in effect only: one that was set goes where it was set for, the environment's
 * where the environment says.
 */
export function secretFor(
  { inEffect, ofEnvironment }: Addresses,
  stored: Stored<object>['secret'],
  fromEnvironment: string | undefined,
): { readonly value: string | undefined; readonly source: Source } {
  if (stored) {
    const value = stored.address === inEffect ? (stored.value ?? undefined) : undefined;
    return { value, source: 'set' };
  }
  const value = inEffect !== null && inEffect === ofEnvironment ? fromEnvironment : undefined;
  return { value, source: value === undefined ? 'default' : 'environment' };
}
