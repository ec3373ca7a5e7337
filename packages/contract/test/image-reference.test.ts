import { expect, test } from '@jest/globals';
import { newTemplate, templateChange } from '../src/index.ts';

const digest = `sha256:${'ab'.repeat(32)}`;
const other = `sha256:${'cd'.repeat(32)}`;
const base = { name: 'Server', category_id: '019a0000-0000-7000-8000-00000a0c10ad' };
const messagesOf = ({ error }: ReturnType<typeof newTemplate.safeParse>) =>
  error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

test.each([
  [`team/app:1.2@${digest}`, { image_name: 'team/app', image_tag: '1.2', image_digest: digest }],
  [`app@${digest}`, { image_name: 'app', image_tag: 'latest', image_digest: digest }],
  ['team/app', { image_name: 'team/app', image_tag: 'latest', image_digest: null }],
])('the image name %s of a new template is divided', (image_name, expected) => {
  expect(newTemplate.parse({ ...base, image_name })).toMatchObject(expected);
});

test('an image name with a digest changes only the members that it names', () => {
  const change = templateChange.parse({ image_name: `app@${digest}`, image_tag: '2' });
  expect(change).toMatchObject({ image_name: 'app', image_tag: '2', image_digest: digest });
  expect(templateChange.parse({ image_name: `app@${digest}` })).not.toHaveProperty('image_tag');
});

test('another tag or digest than in the image name is refused', () => {
  const image_name = `app:1@${digest}`;
  expect(messagesOf(newTemplate.safeParse({ ...base, image_name, image_tag: '2', image_digest: other }))).toEqual([
    'image_tag must not differ from that in image_name',
    'image_digest must not differ from that in image_name',
  ]);
  expect(newTemplate.safeParse({ ...base, image_name, image_tag: '1', image_digest: digest }).success).toBe(true);
});

test.each([`app:1`, `app@${digest.toUpperCase()}`, `app@sha256:ab`, `:1@${digest}`, `@${digest}`, `app:@${digest}`])(
  'the image name %s is refused',
  (image_name) => {
    expect(newTemplate.safeParse({ ...base, image_name }).success).toBe(false);
  },
);
