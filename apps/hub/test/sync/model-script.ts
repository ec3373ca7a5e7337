import type { Placed } from '../visibility/generated.ts';
import type { Caller } from './model-catalog.ts';
import { type Beginning, writesOf } from './model-history.ts';
import type { Write } from './model-writes.ts';

// How a history reads that fails.

export const nameOf = (caller: Caller | undefined): string =>
  typeof caller === 'number' ? `organization ${caller}` : (caller ?? 'nobody');

export const lineOfBeginning = (beginning: Beginning): string =>
  [
    `begin: categories ${beginning.privacy.map((isPrivate) => (isPrivate ? 'private' : 'open')).join(', ')}`,
    ...writesOf(beginning).map(lineOf),
    `walkers ${beginning.walkers.map(nameOf).join(', ')}`,
  ].join('; ');

export const lineOfCommit = (writes: readonly Write[]): string => `commit: ${writes.map(lineOf).join('; ')}`;

function lineOf(write: Write): string {
  switch (write.kind) {
    case 'create':
      return `create template-${write.place}, id of rank ${write.rank}, ${wordsFor(write.placed)}`;
    case 'edit':
      return `write text ${write.text} into template-${write.place}`;
    case 'put':
      return `make template-${write.place} ${wordsFor(write.into)}`;
    case 'delete':
      return `delete template-${write.place}`;
    case 'swap slugs':
      return `swap the slugs template-${write.place} and template-${write.with}`;
    case 'rename':
      return `rename category ${write.category} to ${write.name}`;
    case 'set privacy':
      return `make category ${write.category} ${write.isPrivate ? 'private' : 'open'}`;
    case 'replace':
      return `replace category ${write.category}`;
    case 'grant':
    case 'revoke':
      return `${write.kind} category ${write.category} ${write.kind === 'grant' ? 'to' : 'from'} ${nameOf(write.organization)}`;
  }
}

function wordsFor(given: Partial<Placed>): string {
  const words = [];
  if ('isPublic' in given) words.push(given.isPublic ? 'public' : 'hidden');
  if ('category' in given) words.push(`in category ${given.category}`);
  if ('owner' in given) words.push(`of ${nameOf(given.owner)}`);
  return words.join(', ');
}
