import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { fieldCodes, problemCodes, problems } from '@svc/contract';

/** The texts of the console in English, without the catalogues, which only its build has. */
const TEXTS = 'data:text/javascript,export const t = (text) => text;';
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier.endsWith('/texts/texts.ts')
      ? { url: TEXTS, format: 'module', shortCircuit: true }
      : nextResolve(specifier, context),
});
const { fieldSentences, nextSteps, problemSentences } = await import('../src/shared/api/problem-words.ts');

/** Names of members, values and headers of the API, and its notation. */
const API_WORDS = /[a-z]_[a-z]|[{}[\]`]|""|\b(?:UUID|JSON|null|cursor)\b|\bsend\b|\?\w+=/;
const root = path.join(import.meta.dirname, '..', '..', '..');

test('each code that a form can receive has a sentence, without words of the API', () => {
  expect(Object.keys(problemSentences).sort()).toEqual([...problemCodes].sort());
  expect(Object.keys(fieldSentences).sort()).toEqual([...fieldCodes].sort());
  for (const sentence of [problemSentences, fieldSentences, nextSteps].flatMap((table) => Object.values(table))) {
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence).not.toMatch(API_WORDS);
  }
  for (const { title } of Object.values(problems)) expect(title).not.toMatch(API_WORDS);
});

/** Messages with words of the API that no form can cause: of queries, headers and members without a field. */
const notInForms: readonly RegExp[] = [
  /next_cursor|cursor is set/, // the cursors of lists
  /template_slug|org_id and category_id|combined with org_id/, // the console always sends one of them
  /cluster_id or host_id|size for a new volume or storage_id/, // the choice of a list has one of them
  /workload_id|deployment_id|template nor spec/, // each form has one source, and plans their own members
  /CORS_ORIGINS|valid JSON|without paging/, // requests of programs
  /member with a name|PUBLIC_URL/,
  /an index, a UUID, or a CDI device/, // the ids of GPUs, as their tools print them
  /of them, separated by commas/, // filters
  /abort_rollout for an application/, // the tools of agents
  /-download_count/, // the order of a list
];

test('a message of a field error without a code has no words of the API', () => {
  const folders = ['packages/contract/src', 'packages/auth/src', 'apps/hub/src/api', 'apps/fleet/src'];
  const found = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/generated|openapi|field-codes/.test(file))
      .flatMap((file) => messagesIn(readFileSync(path.join(root, folder, file), 'utf8')))
      .filter((message) => API_WORDS.test(message.replace(/\$\{[^}]*\}/g, 'x')))
      .filter((message) => !notInForms.some((exception) => exception.test(message))),
  );
  expect(found).toEqual([]);
});

/** The literals that complete a sentence about a member: "must be a number", "is required". */
const messagesIn = (source: string): readonly string[] =>
  [...source.matchAll(/(?<![\w])(['`])((?:must|is required|is not a)\b[^'`\n]*)\1/g)].map(
    ([, , message = '']) => message,
  );
