import type { Answered } from '@svc/testing';

export const SESSION = '/api/v1/auth/session';
export const CONSOLE_URL = 'https://fleet.example.test';

/** What a browser sends with the requests of a page of the console. */
export const OF_CONSOLE = { 'Sec-Fetch-Site': 'same-origin', Origin: CONSOLE_URL };

/** The header `Cookie` of a browser that received this response. */
export const cookieIn = ({ headers }: Pick<Answered, 'headers'>): string =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map((line) => line.split(';')[0] ?? '')
    .join('; ');
