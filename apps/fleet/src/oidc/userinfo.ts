import { ClientError, type Configuration, fetchUserInfo, skipSubjectCheck } from 'openid-client';
import type { Members } from './reach.ts';

/** openid-client's codes for: it was refused, it speaks of somebody else, it names nobody. */
const REFUSALS = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'];

/** What the provider says of the person of an access token; undefined where it refuses to, or speaks of somebody else. */
export async function askUserinfo(
  configuration: Configuration,
  accessToken: string,
  sub: string | undefined,
): Promise<Members | undefined> {
  try {
    return await fetchUserInfo(configuration, accessToken, sub ?? skipSubjectCheck);
  } catch (error) {
    if (error instanceof ClientError && REFUSALS.includes(error.code ?? '')) return undefined;
    throw error;
  }
}
