import { application, partMembers } from '@svc/contract';
import {
  applications,
  changedMembers,
  contentDigestOf,
  coveredMembersOfApplications,
  inspectSignature,
  type Members,
  signApplication,
  signContent,
  signTemplate,
  Untrusted,
} from '../src/index.ts';
import { aPart, partsOf, publisher, signedApplication, verifyApplication, wiki, withPart } from './an-application.ts';
import { content, first, NOW, outcomeOf, signed, verify } from './world.ts';

/** The members that the hub can change without the publisher. A new member belongs to this list, or is covered. */
const OF_THE_HUB = [
  'advisories',
  'category_icon',
  'category_id',
  'category_name',
  'category_slug',
  'created_at',
  'download_count',
  'id',
  'is_featured',
  'is_public',
  'min_tier',
  'replacement',
  'revision',
  'signatures',
  'status',
  'status_message',
  'tags',
  'updated_at',
];

const good = await signedApplication();
const outcome = (members: Members, signatures: readonly unknown[] = good.signatures) =>
  outcomeOf(verifyApplication({ members, signatures }));

/** Why an application is refused. */
const refusal = async (members: Members, options: Parameters<typeof verifyApplication>[1] = {}) => {
  const error = await verifyApplication({ members, signatures: good.signatures }, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Untrusted)) throw new Error('the application was not refused');
  const { reason, detail, parts } = error;
  return [reason, detail, parts];
};

describe('the covered members', () => {
  it('are each member of an application that does not belong to the hub on purpose', () => {
    expect([...coveredMembersOfApplications, ...OF_THE_HUB].sort()).toEqual(Object.keys(application.shape).sort());
  });

  it('are each member of a part', () => {
    expect(applications.parts?.covered).toEqual(partMembers);
    expect(Object.keys(aPart('web')).sort()).toEqual([...partMembers].sort());
  });

  it.each(coveredMembersOfApplications.filter((name) => name !== 'slug'))(
    'refuse another value of %s',
    async (name) => {
      expect(await outcome({ ...wiki, [name]: [] })).toBe('content_changed');
      const { [name]: _, ...others } = wiki;
      expect(await outcome(others)).toBe('content_changed');
    },
  );

  it.each(partMembers.filter((name) => name !== 'name'))('refuse another value of %s of a part', async (name) => {
    const changed = withPart('web', { [name]: 'another value' });
    expect(await refusal(changed)).toEqual(['content_changed', 'part web', ['web']]);
  });

  it.each(OF_THE_HUB)('leave %s to the hub', async (name) => {
    expect(await outcome({ ...wiki, [name]: 'other' })).toBe('accepted');
  });
});

describe('parts', () => {
  it('are accepted as they were signed', async () => {
    const { serial, ignored, remember } = await verifyApplication(good);
    expect([serial, ignored, remember.slug]).toEqual([5, [], 'application/wiki']);
    expect(remember.content).toBe(contentDigestOf(wiki, applications));
  });

  it.each<[string, unknown, unknown[]]>([
    ['an injected part', [...partsOf(wiki), aPart('miner')], ['uncovered_member', 'part miner', ['miner']]],
    ['a removed part', partsOf(wiki).slice(1), ['content_changed', 'part data-base, parts', ['data-base']]],
    ['another order', partsOf(wiki).toReversed(), ['content_changed', 'parts', []]],
    ['a repeated part', [...partsOf(wiki), aPart('web')], ['content_changed', 'part web, parts', ['web']]],
    [
      'a part whose name looks like that of another one',
      [...partsOf(wiki), aPart('data_base')],
      ['content_changed', 'part data-base, parts', ['data-base']],
    ],
    [
      'names instead of parts',
      ['data-base', 'web'],
      ['content_changed', 'part data-base, part web, parts', ['data-base', 'web']],
    ],
    ['no list', {}, ['content_changed', 'part data-base, part web, parts', ['data-base', 'web']]],
    ['another image', partsOf(withPart('web', { image_name: 'team/miner' })), ['content_changed', 'part web', ['web']]],
    [
      'a host port',
      partsOf(withPart('data-base', { ports: [{ containerPort: 5432, protocol: 'TCP', publish: true }] })),
      ['content_changed', 'part data-base', ['data-base']],
    ],
  ])('are refused with %s', async (_name, parts, expected) => {
    expect(await refusal({ ...wiki, parts })).toEqual(expected);
  });

  it('are within the scope of the publisher, each with its image and its secrets', async () => {
    const trust = { ...publisher, images: ['docker.io/team/web'] };
    const detail = 'part data-base: docker.io/team/data-base';
    expect(await refusal(wiki, { trust })).toEqual(['image_out_of_scope', detail, ['data-base']]);
    const secret = await signedApplication(withPart('web', { secret_refs: [{ name: 'token', env: 'TOKEN' }] }));
    expect(await outcomeOf(verifyApplication(secret, { trust: { ...publisher, secrets: [] } }))).toBe(
      'secret_out_of_scope',
    );
    expect(await outcomeOf(verifyApplication(secret, { trust: { ...publisher, secrets: ['token'] } }))).toBe(
      'accepted',
    );
    expect(await refusal(wiki, { trust: { ...publisher, slugs: ['other'] } })).toEqual([
      'slug_out_of_scope',
      'wiki',
      [],
    ]);
  });

  it('all name their images by digest if that is required', async () => {
    const requiresDigest = true;
    expect(await outcomeOf(verifyApplication(good, { requiresDigest }))).toBe('accepted');
    const { members, signatures } = await signedApplication(withPart('web', { image_digest: null }));
    const refused = verifyApplication({ members, signatures }, { requiresDigest });
    await expect(refused).rejects.toMatchObject({ reason: 'image_not_pinned', detail: 'part web', parts: ['web'] });
  });
});

describe('versions', () => {
  const { parts: ofParts } = applications;
  const withoutCommand = (ofParts?.covered ?? []).filter((name) => name !== 'command');
  const earlier = { ...applications, parts: { covered: withoutCommand, defaults: ofParts?.defaults ?? {} } };
  const parts = partsOf(wiki).map(({ command: _, ...part }) => part);

  it('accept the signature of an earlier one while a new member of a part has its default, whoever writes it out', async () => {
    const { signatures } = await signedApplication({ ...wiki, parts });
    const ofEarlier = await signedBy(earlier);
    expect(await outcome({ ...wiki, parts }, ofEarlier)).toBe('accepted');
    expect(await outcome(wiki, ofEarlier)).toBe('accepted');
    expect(await outcome({ ...wiki, parts }, signatures)).toBe('content_changed');
    const injected = withPart('web', { command: ['sh'] });
    const detail = 'command of the part web';
    await expect(verifyApplication({ members: injected, signatures: ofEarlier })).rejects.toMatchObject({
      reason: 'uncovered_member',
      detail,
      parts: ['web'],
    });
  });

  it('report the members of a later one', async () => {
    const { ignored } = await verifyApplication(good, { kind: earlier });
    expect(ignored).toEqual(['parts.command']);
  });

  const signedBy = async (kind: typeof applications) => [
    await signContent(kind, wiki, { publisher: 'acme', serial: 5, issuedAt: NOW }, first),
  ];
});

describe('statements', () => {
  const issue = { publisher: 'acme', serial: 5, issuedAt: NOW };

  it('about an application are none about a template, and the other way round', async () => {
    const template = { ...content, slug: 'wiki' };
    const ofTemplate = await signTemplate(template, issue, first);
    expect(await outcome(wiki, [ofTemplate])).toBe('signature_invalid');
    const asTemplate = { members: { ...template, ...wiki }, signatures: good.signatures };
    expect(await outcomeOf(verify(asTemplate, { trust: publisher }))).toBe('signature_invalid');
    expect(await outcomeOf(verify(await signed()))).toBe('accepted');
  });

  it('of an application are remembered apart from those of the template with the same slug', async () => {
    const remembered = [{ publisher: 'acme', slug: 'wiki', kid: first.key.kid, serial: 9, content: 'x' }];
    const own = remembered.map((each) => ({ ...each, slug: 'application/wiki' }));
    expect(await outcomeOf(verifyApplication(good, { history: { remembered, owner: undefined } }))).toBe('accepted');
    expect(await outcomeOf(verifyApplication(good, { history: { remembered: own, owner: undefined } }))).toBe(
      'rollback',
    );
  });

  it('are compared without a key, for a hub', () => {
    const [signature] = good.signatures;
    expect(inspectSignature(wiki, signature, applications).statement.slug).toBe('wiki');
    expect(() => inspectSignature(withPart('web', { command: ['x'] }), signature, applications)).toThrow(
      'content_changed: part web',
    );
  });

  it('name what differs in two applications', () => {
    const other = { ...withPart('web', { image_tag: '2' }), tags: ['x'], version: '2' };
    expect(changedMembers(wiki, other, applications)).toEqual(['version', 'part_web']);
    const more = { ...wiki, parts: [...partsOf(wiki), aPart('new')] };
    expect(changedMembers(wiki, more, applications)).toEqual(['parts', 'part_new']);
  });

  it('are not made about content without parts', async () => {
    await expect(signApplication({ ...wiki, parts: 'none' }, issue, first)).rejects.toThrow('has no parts with names');
  });
});
