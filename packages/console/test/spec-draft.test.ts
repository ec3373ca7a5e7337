import { describe, expect, test } from '@jest/globals';
import { templateControls } from '@svc/contract';
import { type WorkloadSpec, workloadDefaults, workloadExamples, workloadMembers } from '@svc/contract/fleet';
import { proposedNames } from '../src/fleet/deployments/form/free-name.ts';
import { defaultSpec, draftOfSpec, specControls, specOfDraft } from '../src/fleet/deployments/image/spec-draft.ts';
import { differingMembers } from '../src/shared/catalog/control-values.ts';
import { imageOf, referenceOf } from '../src/shared/catalog/image-reference.ts';

const hub = { registry_url: null, image_tag: 'latest', image_digest: null };
const digest = `sha256:${'a'.repeat(64)}`;

describe('the reference of an image', () => {
  test.each([
    ['nginx', { ...hub, image_name: 'nginx' }],
    ['team/app:1.2', { ...hub, image_name: 'team/app', image_tag: '1.2' }],
    ['docker.io/library/nginx:1', { ...hub, image_name: 'library/nginx', image_tag: '1' }],
    ['ghcr.io/team/app:1.2', { ...hub, registry_url: 'ghcr.io', image_name: 'team/app', image_tag: '1.2' }],
    ['localhost:5000/a/b', { ...hub, registry_url: 'localhost:5000', image_name: 'a/b' }],
    [`app:1@${digest}`, { ...hub, image_name: 'app', image_tag: '1', image_digest: digest }],
    ['', { ...hub, image_name: '' }],
  ])('%p is divided into the members that select it', (reference, members) => {
    expect(imageOf(reference)).toEqual(members);
    expect(imageOf(referenceOf(members))).toEqual(members);
  });
});

describe('the form of a workload', () => {
  const everything: WorkloadSpec = { ...workloadDefaults, ...workloadExamples };

  test('it has a field for each member', () => {
    const names = specControls(templateControls).map(({ name }) => name);
    expect([...names, 'registry_url', 'image_name', 'image_tag', 'image_digest'].sort()).toEqual(
      [...workloadMembers].sort(),
    );
    expect(defaultSpec(templateControls)).toEqual(workloadDefaults);
  });

  test('a draft that is not changed describes the same workload', () => {
    const specs: WorkloadSpec[] = [
      workloadDefaults,
      everything,
      // Another division of the same reference, and a health check among other variables.
      {
        ...everything,
        registry_url: 'registry.example.com:5000/team',
        image_name: 'app',
        env: [
          { name: 'SVC_HEALTH_CHECK', value: 'http:80/a?b:c' },
          { name: 'MOTTO', value: 'two\nlines' },
          { name: 'QUOTED', value: '"a"' },
        ],
        command: ['sh', '-c', 'a\n  b', '', ' x '],
      },
    ];
    for (const spec of specs) {
      const described = specOfDraft(templateControls, draftOfSpec(templateControls, spec), spec);
      const byName = (env: WorkloadSpec['env']) => [...env].sort((one, other) => (one.name < other.name ? -1 : 1));
      expect({ ...described, env: byName(described.env) }).toEqual({ ...spec, env: byName(spec.env) });
    }
  });

  test('a change contains only what the user has changed', () => {
    const before = draftOfSpec(templateControls, everything);
    const after = {
      image: 'ghcr.io/team/app:2',
      health: { kind: 'tcp', rest: '80' } as const,
      inputs: { ...before.inputs, stop_grace_seconds: '60' },
    };
    const specOf = (draft: typeof before) => specOfDraft(templateControls, draft, everything);
    expect(differingMembers(specOf(before), specOf(after))).toEqual({
      registry_url: 'ghcr.io',
      image_name: 'team/app',
      image_tag: '2',
      image_digest: null,
      stop_grace_seconds: 60,
      env: [...everything.env, { name: 'SVC_HEALTH_CHECK', value: 'tcp:80' }],
    });
  });
});

test('the proposed names of a deployment are different, and have at most 63 characters', () => {
  expect(proposedNames('web').slice(0, 3)).toEqual(['web', 'web-2', 'web-3']);
  const long = proposedNames(`${'a'.repeat(60)}-bcd`);
  expect(new Set(long).size).toBe(20);
  for (const name of long) expect(name).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
});
