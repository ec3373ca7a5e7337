import { createHash } from 'node:crypto';
import { CallError, type Client, createClient, type Send } from '@svc/contract';
import { hubReaderEndpoints, type ReadApplicationUpdates, type ReadUpdates } from '@svc/contract/hub';
import { failedConnection } from '@svc/http';

/** Where a catalog comes from: a hub, or a bundle with its responses. */
export interface CatalogSource {
  /** null: the catalog is that of an anonymous caller. */
  getOwnOrganization(): Promise<{ readonly organization: Organization | null }>;
  listTemplateUpdates(input: {
    readonly query: { readonly cursor: string; readonly limit: number };
  }): Promise<ReadUpdates>;
  listCategories(): Promise<{ readonly categories: readonly unknown[] }>;
  listPublishers(): Promise<{ readonly publishers: readonly unknown[] }>;
}

/** Where the applications of a catalog come from. */
export interface ApplicationSource {
  /** Identifies it: another one has other cursors. */
  readonly source: string;
  readonly client: {
    listApplicationUpdates(input: {
      readonly query: { readonly cursor: string; readonly limit: number };
    }): Promise<ReadApplicationUpdates>;
  };
}

/** The hub that this fleet mirrors. */
export interface Hub {
  readonly url: string;
  /** A hash that identifies the hub and the API key without revealing the key. */
  readonly source: string;
  readonly client: Client<typeof hubReaderEndpoints>;
  /** The same hub for the work of a request, whose id the log of the hub then contains. */
  forRequest(requestId: string | undefined): Hub;
}

export type Organization = Awaited<ReturnType<Hub['client']['getOwnOrganization']>>['organization'];

interface HubConnection {
  readonly url: string;
  readonly apiKey: string;
  readonly requestId?: string | undefined;
  readonly send: Send;
}

export function connectHub({ url, apiKey, requestId, send }: HubConnection): Hub {
  return {
    url,
    source: createHash('sha256')
      .update(JSON.stringify([url, apiKey]))
      .digest('base64url'),
    client: createClient(hubReaderEndpoints, { baseUrl: url, token: apiKey, requestId, send }),
    forRequest: (id) => connectHub({ url, apiKey, requestId: id, send }),
  };
}

/** The reason why a call to the hub failed, for users. It never contains text from the response. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof CallError))
    return 'The fleet could not store the response of the hub. See the log of the fleet.';
  const { failure } = error;
  switch (failure.kind) {
    case 'unreachable': {
      const { kind, text } = failedConnection('the hub', failure.cause);
      return kind === 'no_response' ? `${text} Check that it is running and that HUB_URL is correct.` : text;
    }
    case 'unreadable':
      return `The hub responded with ${failure.status}, but the response is not a catalog. Check that HUB_URL is correct.`;
    case 'refused':
      return refusal(failure.status, failure.code);
  }
}

function refusal(status: number, code: string | undefined): string {
  if (status === 401) return 'The hub refused the API key (401): it is wrong, expired or revoked.';
  if (code === 'organization_suspended') return 'The hub has suspended the organization of this fleet (403).';
  if (status >= 300 && status < 400)
    return `The hub responded with a redirect (${status}). Redirects are not followed: set HUB_URL to the final address.`;
  return `The hub responded with ${status}${code ? ` (${code})` : ''}.`;
}
