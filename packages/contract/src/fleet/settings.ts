import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { organization } from '../shared/organization.ts';
import { MEBIBYTE } from '../shared/reads.ts';
import { line, record, serviceUrl, text } from '../shared/wire.ts';
import { approvalLevels, fleetRoles } from './access.ts';

const source = z.enum(['environment', 'set', 'default']);
const sources = <K extends string>(...members: readonly K[]) =>
  z
    // Object.fromEntries loses the names of the members.
    .object(Object.fromEntries(members.map((member) => [member, source])) as Record<K, typeof source>)
    .meta({ description: 'The source of each value' });

const address = serviceUrl(['http', 'https']);

const role = z.enum(fleetRoles);
const roleMap = record(z.string().min(1).max(500), role, 200);

const oidcSettings = z
  .object({
    issuer: z.string().nullable(),
    client_id: z.string().nullable(),
    has_client_secret: z.boolean(),
    audience: z
      .string()
      .nullable()
      .meta({ description: 'The required audience of access tokens of the provider; null: they are not accepted' }),
    role_claim: z.string(),
    role_map: z
      .record(z.string(), role)
      .nullable()
      .meta({ description: 'Roles by value of the claim; null: the value of the claim is the role' }),
    default_role: z.enum(['viewer', 'none']),
    allow_userinfo: z.boolean(),
    sources: sources(
      'issuer',
      'client_id',
      'client_secret',
      'audience',
      'role_claim',
      'role_map',
      'default_role',
      'allow_userinfo',
    ),
  })
  .meta({ id: 'OidcSettings' });

const oidcChange = z.strictObject({
  issuer: address.optional(),
  client_id: line(500).min(1).optional(),
  client_secret: text(2000).min(1).nullable().optional().meta({ description: 'Required if the issuer changes' }),
  audience: line(2000).min(1).nullable().optional(),
  role_claim: line(500)
    .min(1)
    .optional()
    .meta({ description: 'Name of the claim; dots separate the names of nested claims' }),
  role_map: roleMap.nullable().optional(),
  default_role: z.enum(['viewer', 'none']).optional(),
  allow_userinfo: z.boolean().optional(),
});

const hubSettings = z
  .object({
    url: z.string().nullable(),
    api_key_prefix: z
      .string()
      .nullable()
      .meta({ description: 'The first characters of the API key; null: no key is set' }),
    sync_interval: z.int().meta({ description: 'Seconds between two syncs; 0: only on demand' }),
    sources: sources('url', 'api_key', 'sync_interval'),
  })
  .meta({ id: 'HubSettings' });

const hubChange = z.strictObject({
  url: address.transform((value) => value.replace(/(?<!\/)\/+$/, '')).optional(),
  api_key: z.string().max(200).optional().meta({ description: 'Required if the url changes' }),
  sync_interval: z.int().min(0).max(86_400).optional(),
});

const approvalChange = z.strictObject({
  approval: z.enum(approvalLevels, 'must be none, deletions or all').meta({
    description:
      'Which plans need the approval of a person. A token can need more. A plan of a person is approved by another person',
  }),
});

const approvalSettings = z
  .object({
    ...approvalChange.shape,
    approvers: z.int().meta({
      description: 'The number of users who can approve plans. With one, nobody can approve the plans of this user',
    }),
  })
  .meta({ id: 'ApprovalSettings' });

const checks = z.object({
  ok: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
});

const settings = <const O extends string, const P extends string>(operationId: O, path: P) => ({
  operationId,
  path: `/api/v1/settings/${path}` as const,
  access: 'settings' as const,
  tag: 'settings',
});

/** Settings that can change while the fleet runs. They override the environment. */
export const fleetSettingsEndpoints = {
  getOidcSettings: endpoint({
    ...settings('getOidcSettings', 'oidc'),
    method: 'get',
    summary: 'Get the effective settings of the identity provider',
    reply: oidcSettings,
  }),
  setOidcSettings: endpoint({
    ...settings('setOidcSettings', 'oidc'),
    method: 'put',
    summary: 'Change the settings of the identity provider; members that are left out do not change',
    body: oidcChange,
    reply: oidcSettings,
  }),
  resetOidcSettings: endpoint({
    ...settings('resetOidcSettings', 'oidc'),
    method: 'delete',
    summary: 'Reset the settings to the values of the environment',
    reply: oidcSettings,
  }),
  testOidcSettings: endpoint({
    ...settings('testOidcSettings', 'oidc/test'),
    method: 'post',
    summary: 'Test the identity provider with the effective settings and the members of the body; nothing is stored',
    body: oidcChange,
    reply: checks,
    problems: ['oidc_not_configured'],
  }),
  getApprovalSettings: endpoint({
    ...settings('getApprovalSettings', 'approvals'),
    method: 'get',
    summary: 'Get which plans need the approval of a person',
    reads: { rows: 1000, bytes: 4 * MEBIBYTE },
    reply: approvalSettings,
  }),
  setApprovalSettings: endpoint({
    ...settings('setApprovalSettings', 'approvals'),
    method: 'put',
    summary: 'Set which plans need the approval of a person',
    body: approvalChange,
    reads: { rows: 1000, bytes: 4 * MEBIBYTE },
    reply: approvalSettings,
  }),
  getHubSettings: endpoint({
    ...settings('getHubSettings', 'hub'),
    method: 'get',
    summary: 'Get the effective settings of the hub',
    reply: hubSettings,
  }),
  setHubSettings: endpoint({
    ...settings('setHubSettings', 'hub'),
    method: 'put',
    summary: 'Change the settings of the hub; members that are left out do not change',
    body: hubChange,
    reply: hubSettings,
  }),
  resetHubSettings: endpoint({
    ...settings('resetHubSettings', 'hub'),
    method: 'delete',
    summary: 'Reset the settings to the values of the environment',
    reply: hubSettings,
  }),
  testHubSettings: endpoint({
    ...settings('testHubSettings', 'hub/test'),
    method: 'post',
    summary: 'Test the hub with the effective settings and the members of the body; nothing is stored',
    body: hubChange,
    reply: z.object({ organization }),
    problems: ['hub_not_configured', 'hub_unreachable'],
  }),
};
