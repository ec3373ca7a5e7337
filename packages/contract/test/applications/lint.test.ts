import { expect, test } from '@jest/globals';
import { lintApplication, newApplicationSpec } from '../../src/index.ts';

const lint = (spec: object) =>
  lintApplication(newApplicationSpec.parse(spec)).map(({ path, message }) => `${path}: ${message}`);
const check = { name: 'SVC_HEALTH_CHECK', value: 'tcp:80' };
const web = { name: 'web', image_name: 'app', image_tag: '1', ports: [{ containerPort: 80, publish: true }] };

test('an application without mistakes has no advice', () => {
  const secret = { name: 'PASSWORD', value: `\${generated.password}` };
  expect(
    lint({
      generated: [{ name: 'password' }],
      parts: [
        { ...web, needs: [{ part: 'db' }], volume_mounts: [{ name: 'data', mountPath: '/data', shared: true }] },
        {
          name: 'db',
          image_name: 'db',
          image_tag: '1',
          env: [check, secret],
          volume_mounts: [{ name: 'data', mountPath: '/data', shared: true }],
        },
      ],
    }),
  ).toEqual([]);
});

test('probable mistakes are named with their members', () => {
  expect(
    lint({
      inputs: [{ name: 'mail' }],
      generated: [{ name: 'password' }],
      parts: [
        { name: 'web', image_name: 'app', needs: [{ part: 'db' }] },
        { name: 'db', image_name: 'db', image_tag: '1', volume_mounts: [{ name: 'd', mountPath: '/d', shared: true }] },
      ],
    }),
  ).toEqual([
    'inputs.0: no part uses inputs.mail',
    'generated.0: no part uses generated.password',
    'parts.0.image_tag: latest can be another program after each pull; state a version',
    'parts.1.env: parts wait until db is ready, and it has no SVC_HEALTH_CHECK',
    'parts.1.volume_mounts.0.shared: no other part mounts the shared volume d',
    'parts: no port is published, so that nothing reaches the application from outside',
  ]);
});

test.each([
  [{ image_tag: 'latest', image_digest: `sha256:${'0'.repeat(64)}` }, []],
  [{ image_tag: 'latest' }, ['parts.0.image_tag: latest can be another program after each pull; state a version']],
])('the image %j has the advice %j', (image, advice) => {
  expect(lint({ parts: [{ ...web, ...image }] })).toEqual(advice);
});
