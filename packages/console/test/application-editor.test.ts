import { registerHooks } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { catalogMembers, newApplicationSpec, newPart, templateControls, templateDefaults } from '@svc/contract';

/** The texts of the console in English, without the catalogues, which only its build has. */
const TEXTS = 'data:text/javascript,export const t = (text) => text;';
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier.endsWith('/texts/texts.ts')
      ? { url: TEXTS, format: 'module', shortCircuit: true }
      : nextResolve(specifier, context),
});
const { bodyOf, draftOf, fileOf } = await import('../src/hub/applications/editor/application-draft.ts');
const { catalogMembersOf, partSectionsOf, valueMembers } = await import(
  '../src/hub/applications/editor/application-members.ts'
);

/** An application with each form of each list. */
const spec = newApplicationSpec.parse({
  inputs: [
    { name: 'title', label: 'Title', default: 'A "blog"' },
    { name: 'size', type: 'number', default: 3 },
    { name: 'open', type: 'boolean', default: false },
    { name: 'mode', type: 'choice', choices: ['one way', 'another'], default: 'another' },
    { name: 'mail', type: 'secret', required: false },
  ],
  generated: [{ name: 'password' }, { name: 'key', length: 64, format: 'hex' }],
  parts: [
    {
      name: 'database',
      image_name: 'library/postgres',
      image_tag: '17',
      ports: [{ containerPort: 5432 }],
      volume_mounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'files', mountPath: '/files', read_only: true, shared: true },
      ],
      env: [
        { name: 'PASSWORD', value: `\${generated.password}` },
        { name: 'MOTTO', value: 'two\nlines' },
      ],
    },
    {
      name: 'schema',
      was: 'migration',
      kind: 'job',
      run: 'each_version',
      image_name: 'wiki',
      needs: [{ part: 'database', until: 'started' }],
    },
    {
      name: 'web',
      registry_url: 'ghcr.io',
      image_name: 'team/wiki',
      scalable: true,
      needs: [{ part: 'database' }, { part: 'schema', until: 'finished' }],
      ports: [
        { containerPort: 8080, publish: true, host_port: 80 },
        { containerPort: 53, protocol: 'UDP' },
      ],
      volume_mounts: [{ name: 'files', mountPath: '/files', shared: true }],
      command: ['sh', '-c', 'a\n  b', ''],
      files: [{ path: '/etc/wiki.conf', content: 'a = 1\n\tb\n', mode: '0555' }],
      required_network_types: ['mesh'],
      cpu_request: '2',
    },
  ],
});
const catalog = Object.fromEntries(catalogMembers.map((member) => [member, templateDefaults[member]]));
const application = { name: 'Wiki', slug: 'wiki', category_id: 'tools-id', ...catalog, ...spec };

describe('the form of an application', () => {
  test('it has a field for each member of a part and of the catalog', () => {
    const ofParts = partSectionsOf(templateControls).flatMap(({ members }) => members.map(({ name }) => name));
    expect([...ofParts].sort()).toEqual(Object.keys(newPart.shape).sort());
    expect(
      catalogMembersOf(templateControls)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...catalogMembers].sort());
    expect(valueMembers.map(({ name }) => name)).toEqual(['inputs', 'generated']);
  });

  test('a draft that is not changed describes the same application', () => {
    expect(bodyOf(templateControls, draftOf(templateControls, application))).toEqual(application);
  });

  test('what a new form leaves empty has the defaults of the service', () => {
    const draft = draftOf(templateControls);
    const [part] = draft.parts;
    if (!part) throw new Error('no part');
    const named = { ...draft, parts: [{ ...part, inputs: { ...part.inputs, name: 'web', image_name: 'wiki' } }] };
    const { parts, inputs, generated, slug } = bodyOf(templateControls, named);
    expect(slug).toBeUndefined();
    expect(newApplicationSpec.parse({ parts, inputs, generated })).toEqual(
      newApplicationSpec.parse({ parts: [{ name: 'web', image_name: 'wiki' }] }),
    );
  });

  test('the file leaves out defaults, and describes the same application', () => {
    const file = Object(fileOf(templateControls, draftOf(templateControls, application), 'tools'));
    expect(Object.keys(file)).toEqual(['name', 'slug', 'category', 'inputs', 'generated', 'parts']);
    expect(file.parts[1]).toMatchObject({ name: 'schema', kind: 'job', run: 'each_version', was: 'migration' });
    expect(file.parts[1]).not.toHaveProperty('command');
    const { inputs, generated, parts } = file;
    expect(newApplicationSpec.parse({ inputs, generated, parts })).toEqual(spec);
  });
});
