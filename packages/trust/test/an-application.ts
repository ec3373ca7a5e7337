import { partDefaults } from '@svc/contract';
import { applications, type Members, type Signer, signApplication } from '../src/index.ts';
import { acme, first, NOW, type Options, verify } from './world.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

/** A part with its defaults written out, as a hub stores it. */
export const aPart = (name: string, given: object = {}): Members => ({
  ...structuredClone(partDefaults),
  name,
  image_name: `team/${name}`,
  image_tag: '1',
  image_digest: digest('a'),
  ...given,
});

/** An application as a hub sends it. */
export const wiki: Members = {
  id: '0190c5a0-0000-7000-8000-000000000000',
  name: 'Wiki',
  slug: 'wiki',
  description: 'Pages for everybody',
  documentation: '# Wiki',
  version: '1.0.0',
  inputs: [{ name: 'host', label: 'Host', type: 'text', choices: [], required: true, default: null }],
  generated: [{ name: 'password', length: 32, format: 'text' }],
  parts: [
    aPart('data-base', { ports: [{ containerPort: 5432, protocol: 'TCP', publish: false }] }),
    aPart('web', {
      needs: [{ part: 'data-base', until: 'ready' }],
      ports: [{ containerPort: 8080, protocol: 'TCP', publish: true }],
      env: [{ name: 'PASSWORD', value: `\${generated.password}` }],
    }),
  ],
  tags: ['text'],
  min_tier: 'free',
  category_slug: 'tools',
};

/** The parts of an application, of which one is changed. */
export const withPart = (name: string, changes: object, application: Members = wiki): Members => ({
  ...application,
  parts: partsOf(application).map((part) => (part.name === name ? { ...part, ...changes } : part)),
});

/** The parts of an application of these tests, which have the form of parts. */
export const partsOf = ({ parts }: Members): Members[] => parts as Members[];

interface Given {
  readonly serial?: number;
  readonly key?: Signer;
}

/** An application with a signature of its content. */
export const signedApplication = async (application: Members = wiki, { serial = 5, key = first }: Given = {}) => ({
  members: application,
  signatures: [await signApplication(application, { publisher: 'acme', serial, issuedAt: NOW }, key)],
});

/** A publisher whose scope contains the application. */
export const publisher = { ...acme, slugs: ['wiki'], images: ['docker.io/team/*'] };

export const verifyApplication = (given: Parameters<typeof verify>[0], options: Options = {}) =>
  verify(given, { trust: publisher, kind: applications, ...options });
