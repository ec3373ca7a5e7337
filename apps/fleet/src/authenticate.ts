import { isJwtShaped } from '@svc/auth';
import type { Request } from 'express';
import { tokenOf } from './audit/gate.ts';
import type { Sessions } from './auth/sessions.ts';
import { noteUse } from './auth/tokens.ts';
import type { Database } from './database/client.ts';
import type { Principal } from './principal.ts';

/** From a bearer token to whose it is; undefined for a token that is good for nothing here. */
export const createVerifier =
  (database: Database, sessions: Sessions) =>
  async (token: string, req: Request): Promise<Principal | undefined> => {
    if (!token.startsWith('svcm_')) return isJwtShaped(token) ? sessions.verify(token) : undefined;
    const known = tokenOf(req);
    if (!known?.active) return undefined;
    await noteUse(database, known);
    return { kind: 'token', id: known.id, name: known.name, role: known.role };
  };
