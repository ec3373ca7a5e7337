import { codesOf, failedConnection, type Outbound } from '@svc/http';
import { sizeOf } from './bounds.ts';
import { GitBoundError, GitError, RUN_IN_CI } from './errors.ts';
import type { GitSend } from './protocol.ts';

/** The limits of an outbound for repositories: the time of a request with its response, and the size of a response. */
export const GIT_OUTBOUND = { destination: 'git', timeoutMs: 60_000, maxBytes: 16 * 2 ** 20 } as const;

export interface GitOverOptions {
  /** Created with `GIT_OUTBOUND`. It decides which addresses are allowed, and whether http is. */
  readonly outbound: Pick<Outbound, 'sendBytes' | 'maxBytes'>;
  /** The URL of the repository, as for `git clone`. */
  readonly url: URL;
  /** Sent as password to the host of the URL only. */
  readonly token?: string | undefined;
  /** The user of the token. GitHub and GitLab accept the default, `x-access-token`; GitLab also `oauth2`. */
  readonly user?: string;
}

/**
 * Sends requests to a repository over HTTP (gitprotocol-http). Redirects are not followed. The function that it returns rejects
 * with a GitError that states what to do if the server does not respond with a repository, or does not respond. Its cause is the
 * error of the outbound, if there is one.
 * @throws GitError if the URL or the user cannot be used
 */
export function gitOver({ outbound, url, token, user = 'x-access-token' }: GitOverOptions): GitSend {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new GitError(
      `The URL of a repository must begin with https://. Other protocols are not supported. ${RUN_IN_CI}`,
    );
  if (url.username !== '' || url.password !== '')
    throw new GitError('The URL of a repository must not contain a user or a password. Set the token instead.');
  if (url.search !== '' || url.hash !== '')
    throw new GitError('The URL of a repository must not contain a query or a fragment.');
  if (user === '' || user.includes(':'))
    throw new GitError('The user of a token must not be empty or contain a colon.');
  const base = withoutSlashes(`${url.origin}${url.pathname}`);
  const headers = {
    'git-protocol': 'version=2',
    'user-agent': 'git/svc', // some servers send web pages to programs whose name does not begin with git
    ...(token !== undefined && { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` }),
  };
  return async ({ path, body }) => {
    const accepted = `application/x-git-upload-pack-${body ? 'result' : 'advertisement'}`;
    const response = await outbound
      .sendBytes({
        method: body ? 'POST' : 'GET',
        url: new URL(`${base}${path}`),
        headers: {
          ...headers,
          accept: accepted,
          ...(body && { 'content-type': 'application/x-git-upload-pack-request' }),
        },
        ...(body && { body }),
      })
      .catch((error: unknown) => {
        if (codesOf(error).includes('UND_ERR_RES_EXCEEDED_MAX_SIZE'))
          throw new GitBoundError(`The response of the server is larger than ${sizeOf(outbound.maxBytes)}.`);
        throw new GitError(failedConnection('the server of the repository', error).text, { cause: error });
      });
    if (response.status !== 200) throw new GitError(problemOf(response.status, token !== undefined));
    const [type = ''] = (response.headers['content-type'] ?? '').split(';', 1);
    if (type.trim().toLowerCase() !== accepted)
      throw new GitError(
        'The URL is not a git repository served over HTTP, or its server supports only the old protocol.',
      );
    return response.body;
  };
}

/** What a status says about the request. */
function problemOf(status: number, hasToken: boolean): string {
  const response = `The server responds with the status ${status}`;
  if (status >= 300 && status < 400)
    return `${response}, a redirect. Redirects are not followed: set the URL to which it leads.`;
  const token = hasToken ? 'The token is wrong, expired' : 'The token is missing';
  if (status === 401) return `${response}. ${token}, or may not read this repository.`;
  if (status === 403)
    return `${response}. ${token}, or may not read this repository, or the server refuses this service.`;
  if (status === 404)
    return `${response}. The repository does not exist, or ${hasToken ? 'the token is expired or may not read it' : 'a token is required to read it'}.`;
  return `${response} instead of 200.`;
}

function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
