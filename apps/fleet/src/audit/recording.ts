import { pathOf, requestIdOf } from '@svc/http';
import type { Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import type { KnownToken } from '../auth/mcp-tokens.ts';
import type { Caller, Principal } from '../principal.ts';

/** An entry of the log, as it is written. */
export interface Entry {
  readonly id: string;
  readonly token_id: string | null;
  readonly user_id: string | null;
  readonly actor: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly aborted: boolean;
  readonly request_id: string;
}

/** Who did something, as the log calls them. */
export interface Actor {
  readonly actor: string;
  readonly user_id: string | null;
}

/**
 * The entry that a request leaves. Its id is chosen before anything is done, so that it is written once, whatever becomes
 * of the answer: with the change that the request makes, or before the answer leaves.
 */
export class Recording {
  readonly id = uuidv7();
  readonly token: KnownToken | undefined;
  /** Its entry is committed. */
  isWritten = false;
  /** It has an entry whatever comes of it: what a token asks for, and what changes something outside a transaction. */
  isKept: boolean;
  #actor: Actor | undefined;
  readonly #request: Pick<Entry, 'method' | 'path' | 'request_id'>;
  readonly #isDeserted: () => boolean;

  constructor(req: Request, res: Response, token: KnownToken | undefined) {
    this.token = token;
    this.isKept = token !== undefined;
    this.#isDeserted = () => res.destroyed || req.socket.destroyed;
    this.#request = { method: req.method, path: pathOf(req.originalUrl), request_id: requestIdOf(res) };
  }

  /** From now on it is theirs; what a token does stays the token's. */
  by(actor: Actor): void {
    this.#actor = actor;
  }

  /** The entry; undefined for a request of nobody who is known. */
  entry(status: number): Entry | undefined {
    const { id, token } = this;
    const actor = token ? { actor: `token:${token.name}`, user_id: null } : this.#actor;
    return (
      actor && { id, token_id: token?.id ?? null, ...actor, ...this.#request, status, aborted: this.#isDeserted() }
    );
  }
}

/** How the log calls a caller. */
export function actorOf(principal: Principal): Actor | undefined {
  if (principal.kind === 'anonymous') return undefined;
  return { actor: nameOf(principal), user_id: principal.kind === 'user' ? principal.id : null };
}

/** Whom people read as the one who did something. */
function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case 'temporary-admin':
      return 'temporary-admin';
    case 'token':
      return `token:${caller.name}`;
    case 'user':
      return caller.email ?? `${caller.name}${caller.name === '' ? '' : ' '}(${caller.id})`;
  }
}

/** Whom people read as the one who made or asked something that nobody in particular may not. */
export function authorOf(principal: Principal): string {
  if (principal.kind === 'anonymous') throw new Error('the policy admits nobody without a name');
  return nameOf(principal);
}
