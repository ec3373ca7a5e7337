import { clientAddress, pathOf, requestIdOf } from '@svc/http';
import type { Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '../identity/actor.ts';
import type { McpToken } from '../identity/mcp-tokens.ts';

/** The maximum length of a path in an audit entry. A path of the API is shorter. */
const MAX_PATH = 1024;

/** An audit entry as it is written. */
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
  /** The address of the caller; null if a proxy reports something else. */
  readonly source: string | null;
  /** The tool of a request to the MCP endpoint. */
  readonly tool: string | null;
  /** Whether the entry is of an operation that such a request performed. */
  readonly part: boolean;
  /** The name of the object of a change, as it is after the change, or was before its deletion. */
  readonly object_name: string | null;
  /** The ids of the advisories that the request acknowledged. */
  readonly acknowledged: string[];
}

/** An entry that is not written yet. */
export interface Due {
  readonly entry: Entry;
  readonly of: Recording;
}

type Recorded = Pick<Entry, 'method' | 'path' | 'request_id' | 'source' | 'part'>;

/**
 * The audit entry of a request while the request is processed. Its id is chosen first, so that the
 * entry is written exactly once: in the transaction of the change that the request makes, or before
 * the response is sent.
 */
export class Recording {
  readonly id = uuidv7();
  readonly token: McpToken | undefined;
  /** Whether the entry is committed. */
  isWritten = false;
  /**
   * Whether the request has an entry whatever its result: requests with a token, and changes
   * outside a transaction.
   */
  isRequired: boolean;
  /** The tool that the request calls, if it calls a known one. */
  tool: string | undefined;
  /** The status of an operation that is part of a request, when it has ended. */
  status: number | undefined;
  /** The name of the object that the request changes, if it is known. */
  objectName: string | undefined;
  /** The ids of the advisories that the request acknowledges. */
  acknowledged: string[] = [];
  #actor: Actor | undefined;
  readonly #recorded: Recorded;
  readonly #isAborted: () => boolean;
  readonly #parts: Recording[] = [];

  private constructor(token: McpToken | undefined, recorded: Recorded, isAborted: () => boolean) {
    this.token = token;
    this.isRequired = token !== undefined;
    this.#isAborted = isAborted;
    this.#recorded = recorded;
  }

  static ofRequest(req: Request, res: Response, token: McpToken | undefined): Recording {
    const recorded = {
      method: req.method,
      path: pathOf(req.originalUrl).slice(0, MAX_PATH),
      request_id: requestIdOf(res),
      source: clientAddress(req.ip) ?? null,
      part: false,
    };
    return new Recording(token, recorded, () => res.destroyed || req.socket.destroyed);
  }

  /** The recording of a change that a part of the fleet makes itself, as if it had requested it. */
  static ofOwn({
    actor,
    ...recorded
  }: Pick<Entry, 'method' | 'path' | 'request_id'> & { readonly actor: string }): Recording {
    const recording = new Recording(undefined, { ...recorded, source: null, part: false }, () => false);
    recording.setActor({ actor, user_id: null });
    return recording;
  }

  /** The recording of an operation that the request performs. It has an entry of its own. */
  part({ method, path }: Pick<Entry, 'method' | 'path'>): Recording {
    const recorded = { ...this.#recorded, method, path: pathOf(path).slice(0, MAX_PATH), part: true };
    const part = new Recording(this.token, recorded, this.#isAborted);
    part.isRequired = true;
    part.tool = this.tool;
    if (this.#actor) part.setActor(this.#actor);
    this.#parts.push(part);
    return part;
  }

  /** The entry of the request, unless it is written or not required. */
  due(status: number): Due[] {
    const entry = this.isRequired && !this.isWritten ? this.entry(status) : undefined;
    return entry ? [{ entry, of: this }] : [];
  }

  /** The entries of the operations that have ended and are not written. */
  dueParts(): Due[] {
    return this.#parts.flatMap((part) => (part.status === undefined ? [] : part.due(part.status)));
  }

  /** Sets the actor of the entry. For a request with a token, the token remains the actor. */
  setActor(actor: Actor): void {
    this.#actor = actor;
  }

  /** The entry; undefined for an anonymous request. */
  entry(status: number): Entry | undefined {
    const { id, token } = this;
    const actor = token ? { actor: `token:${token.name}`, user_id: null } : this.#actor;
    const optional = {
      tool: this.tool ?? null,
      object_name: this.objectName ?? null,
      acknowledged: this.acknowledged,
    };
    const subject = { id, token_id: token?.id ?? null, ...this.#recorded, ...optional };
    return actor && { ...subject, ...actor, status, aborted: this.#isAborted() };
  }
}
