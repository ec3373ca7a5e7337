import type { ApiServer, InjectedResponse } from '../../engines/kubernetes/api-server.ts';

/** A request as the API server received it. */
export type Request = ApiServer['requests'][number];

/** A rejection that repeats everything that the API server received. */
export type Refusing = (told: string) => { readonly status: number; readonly reason: string; readonly message: string };

/** Rejections of API servers and of proxies before them. */
export const REFUSALS = {
  unauthorized: (told) => ({ status: 401, reason: 'Unauthorized', message: told }),
  forbidden: (told) => ({ status: 403, reason: 'Forbidden', message: `admission webhook denied the request: ${told}` }),
  notAllowed: (told) => ({ status: 403, reason: 'Forbidden', message: `User "x" cannot patch resource "x": ${told}` }),
  conflict: (told) => ({ status: 409, reason: 'Conflict', message: `Apply failed with conflicts: ${told}` }),
  invalid: (told) => ({ status: 422, reason: 'Invalid', message: `is invalid: Invalid value: ${told}` }),
  undeclared: (told) => ({
    status: 500,
    reason: 'InternalError',
    message: `${told.replaceAll(/\s/g, '_')}: field not declared in schema`,
  }),
  broken: (told) => ({ status: 500, reason: 'InternalError', message: `panic: ${told}` }),
} satisfies Readonly<Record<string, Refusing>>;

interface Rule {
  readonly isMeant: (request: Request) => boolean;
  readonly refusing: Refusing;
  count: number;
}

/** Makes an API server repeat in its rejections all secrets that it has received. */
export function makeEcho(server: ApiServer, told: readonly string[]) {
  const rules: Rule[] = [];
  const answerTo = (request: Request): InjectedResponse | undefined => {
    const rule = rules.find(({ isMeant }) => isMeant(request));
    if (!rule) return undefined;
    rule.count += 1;
    const all = `${told.join(' ')} ${request.body} ${JSON.stringify(request.headers)}`;
    const { status, reason, message } = rule.refusing(all);
    // Each value separately.
    const causes = [...told, ...dataIn(request)].flatMap((value) => [
      { reason: 'FieldManagerConflict', field: value, message: `conflict with "${value}"` },
      { reason: 'FieldValueInvalid', field: 'spec', message: `Invalid value: ${value}` },
    ]);
    const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message };
    return { status, body: JSON.stringify({ ...body, details: { causes } }) };
  };
  server.inject(answerTo);
  return {
    /** Rejects some requests during `work`. @throws if there were none */
    whileRefusing: async ({ isMeant, refusing }: Pick<Rule, 'isMeant' | 'refusing'>, work: () => Promise<unknown>) => {
      const rule = { isMeant, refusing, count: 0 };
      rules.push(rule);
      await work();
      rules.splice(rules.indexOf(rule), 1);
      if (rule.count === 0) throw new Error('no request was rejected');
    },
  };
}

/** Values of a Secret in a request. */
const dataIn = ({ body }: Request): string[] => Object.values((body && JSON.parse(body).data) || {});
