import type { Caller } from '../principal.ts';

/** A caller as `/auth/me` and sign-in show them. @throws where they have no role: the policy has refused them before */
export function presentCaller(caller: Caller) {
  const { name, role } = caller;
  if (role === undefined) throw new Error('the policy admits nobody without a role');
  switch (caller.kind) {
    case 'temporary-admin':
      return { kind: caller.kind, id: null, name, email: null, role, temporary: true };
    case 'token':
      return { kind: caller.kind, id: caller.id, name, email: null, role, temporary: false };
    case 'user':
      return { kind: caller.source, id: caller.id, name, email: caller.email, role, temporary: false };
  }
}
