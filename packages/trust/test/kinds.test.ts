import { type ContentKind, signContent, signTemplate, templates, Untrusted } from '../src/index.ts';
import { content, first, NOW, outcomeOf, signed, verify } from './world.ts';

/** Notes, which have a text with a default, and no image. */
const notes: ContentKind = {
  typ: 'svc-note+jws',
  noun: 'note',
  keyOf: (slug) => `note/${slug}`,
  covered: ['name', 'slug', 'text'],
  defaults: { text: '' },
  refuseOutside: ({ slugs }, slug) => {
    if (!slugs.includes(slug)) throw new Untrusted('slug_out_of_scope', slug);
  },
  refuseUnpinned: () => undefined,
};
const issue = { publisher: 'acme', serial: 5, issuedAt: NOW };
const note = { name: 'A note', slug: 'redis', text: 'Read me.' };
const signedNote = async (members: object = note) => ({
  members: { ...note, ...members },
  signatures: [await signContent(notes, { ...note, ...members }, issue, first)],
});

it('verifies another kind of content with its own members', async () => {
  expect(await outcomeOf(verify(await signedNote(), { kind: notes }))).toBe('accepted');
  const { signatures } = await signedNote();
  expect(await outcomeOf(verify({ members: { ...note, text: 'x' }, signatures }, { kind: notes }))).toBe(
    'content_changed',
  );
  expect(await outcomeOf(verify({ members: { ...note, image_tag: 'x' }, signatures }, { kind: notes }))).toBe(
    'accepted',
  );
});

it('applies the scope and the rule for digests of the kind', async () => {
  const other = await signedNote({ slug: 'other' });
  expect(await outcomeOf(verify(other, { kind: notes }))).toBe('slug_out_of_scope');
  const refuseUnpinned = () => {
    throw new Untrusted('image_not_pinned');
  };
  const unpinned = { ...notes, refuseUnpinned };
  expect(await outcomeOf(verify(await signedNote(), { kind: unpinned, requiresDigest: true }))).toBe(
    'image_not_pinned',
  );
});

it('refuses a signature of one kind for content of another', async () => {
  const { signatures } = await signedNote();
  expect(await outcomeOf(verify({ members: content, signatures }))).toBe('signature_invalid');
  expect(await outcomeOf(verify(await signed(), { kind: notes }))).toBe('signature_invalid');
  const signature = await signTemplate(content, issue, first);
  expect(await signContent(templates, content, issue, first)).toBe(signature);
});
