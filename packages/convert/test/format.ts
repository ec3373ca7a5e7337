import { newApplicationSpec } from '@svc/contract';
import type { Application } from '../src/index.ts';

/** Members of the format that the contract does not declare yet. */
const LATER = ['host_port'];

/** What the contract does not accept of an application. */
export function formatProblems({ inputs, generated = [], parts }: Application): readonly object[] {
  const { error } = newApplicationSpec.safeParse({ inputs, generated, parts });
  return (error?.issues ?? []).filter(
    (issue) => !(issue.code === 'unrecognized_keys' && issue.keys.every((key) => LATER.includes(key))),
  );
}
