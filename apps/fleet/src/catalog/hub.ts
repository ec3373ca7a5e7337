import { createHash } from 'node:crypto';
import { CallError, type Client, createClient, type Send } from '@svc/contract';
import { hubCatalogEndpoints } from '@svc/contract/hub';
import { OutboundRefused } from '@svc/http';

/** The hub that this fleet mirrors, as its contract describes it. */
export interface Hub {
  readonly url: string;
  /** Tells one hub and key from another, without telling the key. */
  readonly source: string;
  readonly client: Client<typeof hubCatalogEndpoints>;
}

export function connectHub({
  url,
  apiKey,
  send,
}: {
  readonly url: string;
  readonly apiKey: string;
  readonly send: Send;
}): Hub {
  return {
    url,
    source: createHash('sha256')
      .update(JSON.stringify([url, apiKey]))
      .digest('base64url'),
    client: createClient(hubCatalogEndpoints, { baseUrl: url, token: apiKey, send }),
  };
}

/** Why a call to the hub failed, for a person: what happened and what to look at. Never what the other side sent. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof CallError)) return 'The fleet could not store what the hub answered; its log says more.';
  const { failure } = error;
  switch (failure.kind) {
    case 'unreachable':
      if (failure.cause instanceof OutboundRefused) return failure.cause.message;
      return 'The hub does not answer: it may be down, or HUB_URL may be wrong.';
    case 'unreadable':
      return `The hub answered ${failure.status} with something that is not a catalog: HUB_URL may be another service’s.`;
    case 'refused':
      return refusal(failure.status, failure.code);
  }
}

function refusal(status: number, code: string | undefined): string {
  if (status === 401) return 'The hub refused the API key (401): it is wrong, expired or revoked.';
  if (code === 'organization_suspended') return 'The hub has suspended this fleet’s organization (403).';
  if (status >= 300 && status < 400)
    return `The hub answered with a redirect (${status}), which is not followed: give HUB_URL its final address.`;
  return `The hub answered ${status}${code ? ` (${code})` : ''}.`;
}
