import type { Caller } from '../principal.ts';

export const presentTemporaryAdmin = (name: string) =>
  ({ kind: 'temporary-admin', name, role: 'admin', temporary: true }) as const;

export const presentCaller = (caller: Caller) =>
  caller.kind === 'temporary-admin'
    ? presentTemporaryAdmin(caller.name)
    : ({ kind: 'token', name: caller.name, role: caller.role, temporary: false } as const);
