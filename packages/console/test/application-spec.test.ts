import { describe, expect, test } from '@jest/globals';
import { newApplicationSpec } from '@svc/contract';
import { convertCompose } from '@svc/convert';
import {
  type ConvertedSpec,
  decidedSpec,
  mountsOf,
  publishedPorts,
  webPortsOf,
} from '../src/fleet/applications/deploy/application-spec.ts';
import { placeInSpec } from '../src/fleet/applications/deploy/place-in-spec.ts';

const nothing = { generated: new Set<string>(), networks: [], webPorts: new Set<string>() };

/** A program with its database, whose password is a secret input, and a mail password that it may have. */
function aSpec(): ConvertedSpec {
  const text = `
services:
  database:
    image: postgres:17
    environment: { POSTGRES_PASSWORD: not-for-the-hub, PRICE: "$\${inputs.postgres_password}" }
    volumes: ["data:/var/lib/postgresql/data"]
  web:
    image: wiki:2
    environment: { DATABASE: "postgres://postgres:not-for-the-hub@database/wiki", MAIL_PASSWORD: "\${MAIL_PASSWORD:-}" }
    ports: ["80:8080", "8443:8443", "53:53/udp"]
    expose: ["9090"]
volumes: { data: {} }
`;
  const { application, report } = convertCompose({ file: 'compose.yaml', text, name: 'Wiki' });
  if (!application) throw new Error(JSON.stringify(report.filter((entry) => entry.class === 'refused')));
  return application;
}

const variable = ({ parts }: ReturnType<typeof decidedSpec>, part: string, name: string) =>
  parts.find((one) => one.name === part)?.env?.find((one) => one.name === name)?.value;

describe('the specification of a converted application', () => {
  test('a secret input that is generated becomes a generated value in each text, also percent-encoded', () => {
    const spec = decidedSpec(aSpec(), { ...nothing, generated: new Set(['postgres_password']) });
    expect(spec.inputs.map(({ name }) => name)).toEqual(['mail_password']);
    expect(spec.generated).toEqual([{ name: 'postgres_password', length: 32 }]);
    expect(variable(spec, 'database', 'POSTGRES_PASSWORD')).toBe(`\${generated.postgres_password}`);
    expect(variable(spec, 'web', 'DATABASE')).toContain(`\${generated.postgres_password|url}`);
    expect(variable(spec, 'web', 'MAIL_PASSWORD')).toBe(`\${inputs.mail_password}`);
    expect(newApplicationSpec.safeParse(spec).error).toBeUndefined();
  });

  test('a text that only looks like a placeholder stays', () => {
    const spec = decidedSpec(aSpec(), { ...nothing, generated: new Set(['postgres_password']) });
    expect(variable(spec, 'database', 'PRICE')).toBe(`$\${inputs.postgres_password}`);
  });

  test('a generated value does not take the name of another one', () => {
    const spec = decidedSpec(
      { ...aSpec(), generated: [{ name: 'postgres_password', length: 40, format: 'hex' }] },
      { ...nothing, generated: new Set(['postgres_password']) },
    );
    expect(spec.generated.map(({ name }) => name)).toEqual(['postgres_password', 'postgres_password_2']);
    expect(variable(spec, 'database', 'POSTGRES_PASSWORD')).toBe(`\${generated.postgres_password_2}`);
  });

  test('only parts with published ports require the network, and name the ports with web pages', () => {
    const spec = aSpec();
    const chosen = new Set(webPortsOf(spec).map(({ key }) => key));
    const decided = decidedSpec(spec, { ...nothing, networks: ['mesh'], webPorts: chosen });
    expect(decided.parts.map((part) => [part.name, Object(part).required_network_types])).toEqual([
      ['database', undefined],
      ['web', ['mesh']],
    ]);
    expect(variable(decided, 'web', 'SVC_HTTP_PORTS')).toBe('8080, 8443/https');
    expect(variable(decided, 'database', 'SVC_HTTP_PORTS')).toBeUndefined();
    expect(newApplicationSpec.safeParse(decided).error).toBeUndefined();
    expect(webPortsOf(decided as unknown as ConvertedSpec)).toEqual([]);
  });

  test('published ports are those from outside, and a shared volume is one', () => {
    const spec = aSpec();
    expect(publishedPorts(spec).map(({ key }) => key)).toEqual(['web/8080/TCP', 'web/8443/TCP', 'web/53/UDP']);
    expect(mountsOf(spec)).toEqual([{ name: 'database/data', mountPath: '/var/lib/postgresql/data' }]);
    const shared = {
      ...spec,
      parts: spec.parts.map((part) => ({
        ...part,
        volume_mounts: [{ name: 'files', mountPath: `/${part.name}`, shared: true as const }],
      })),
    };
    expect(mountsOf(shared)).toEqual([{ name: 'database/files', mountPath: '/database' }]);
  });
});

test('a message about a part names the part and its variable instead of their numbers', () => {
  const spec = aSpec();
  const index = spec.parts.findIndex(({ name }) => name === 'database');
  const position = spec.parts[index]?.env?.findIndex(({ name }) => name === 'PRICE');
  expect(placeInSpec(`spec.parts.${index}.env.${position}.value`, spec)).toEqual({
    part: 'database',
    path: 'env.PRICE',
  });
  expect(placeInSpec(`spec.parts.${index}.image_tag`, spec)).toEqual({ part: 'database', path: 'image_tag' });
  expect(placeInSpec('inputs.mail_password', spec)).toEqual({ part: undefined, path: 'inputs.mail_password' });
  expect(placeInSpec('spec.parts.9.name', spec)).toEqual({ part: undefined, path: 'spec.parts.9.name' });
});
