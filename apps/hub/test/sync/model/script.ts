import type { TemplateScope } from '../../visibility/generated.ts';
import type { Caller } from './catalog.ts';
import { type InitialState, writesOf } from './history.ts';
import type { Write } from './writes.ts';

// Describes a failing history as text.

export const nameOf = (caller: Caller | undefined): string =>
  typeof caller === 'number' ? `organization ${caller}` : (caller ?? 'none');

export const describeInitialState = (initialState: InitialState): string =>
  [
    `begin: categories ${initialState.privacy.map((isPrivate) => (isPrivate ? 'private' : 'open')).join(', ')}`,
    ...writesOf(initialState).map(describeWrite),
    `walkers ${initialState.walkers.map(nameOf).join(', ')}`,
  ].join('; ');

export const describeCommit = (writes: readonly Write[]): string => `commit: ${writes.map(describeWrite).join('; ')}`;

function describeWrite(write: Write): string {
  switch (write.kind) {
    case 'create':
      return `create template-${write.slot} with an id of rank ${write.rank}, ${describeScope(write.scope)}`;
    case 'edit':
      return `set the description of template-${write.slot} to text ${write.text}`;
    case 'set scope':
      return `set the scope of template-${write.slot}: ${describeScope(write.scope)}`;
    case 'delete':
      return `delete template-${write.slot}`;
    case 'set status':
    case 'advise':
    case 'withdraw':
      return `${write.kind} of template-${write.slot}: text ${write.text}`;
    case 'swap slugs':
      return `swap the slugs template-${write.slot} and template-${write.with}`;
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

function describeScope(given: Partial<TemplateScope>): string {
  const words = [];
  if ('isPublic' in given) words.push(given.isPublic ? 'public' : 'hidden');
  if ('category' in given) words.push(`in category ${given.category}`);
  if ('owner' in given) words.push(`owner ${nameOf(given.owner)}`);
  return words.join(', ');
}
