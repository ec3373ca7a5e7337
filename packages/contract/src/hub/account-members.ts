import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { organization, orgRole } from '../shared/organization.ts';
import { timestamp } from '../shared/timestamp.ts';
import { byUuid, email, id, pagination, paging } from '../shared/wire.ts';
import { apiKey, keysOfMember } from './api-key.ts';

/** The maximum number of open invitations of an organization. */
export const MAX_INVITATIONS = 100;

const member = z
  .object({ id, email: z.string().nullable(), name: z.string(), org_role: orgRole })
  .meta({ id: 'Member', description: 'A user who belongs to the organization' });

const invitation = z
  .object({
    id,
    email: z.string().nullable().meta({ description: 'The only address with which it can be accepted; null: any' }),
    org_role: orgRole,
    invited_by: z.string().nullable().meta({ description: 'The e-mail address of the user who invited' }),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'Invitation' });

/** The members of the caller's organization, and invitations to it. */
export const hubAccountMemberEndpoints = {
  listMembers: endpoint({
    operationId: 'listMembers',
    method: 'get',
    path: '/api/v1/account/members',
    access: 'account',
    tag: 'account',
    summary: 'List the members of the caller’s organization',
    query: z.strictObject(paging),
    reply: z.object({ members: z.array(member), pagination }),
  }),
  joinOrganization: endpoint({
    operationId: 'joinOrganization',
    method: 'post',
    path: '/api/v1/account/members',
    access: 'account-change',
    tag: 'account',
    summary: 'Join an organization with the code of an invitation, once',
    body: z.strictObject({ code: z.string().max(200, 'must have at most 200 characters') }),
    status: 201,
    reply: z.object({ organization, org_role: orgRole }),
    problems: ['invalid_grant', 'already_in_organization'],
  }),
  updateMember: endpoint({
    operationId: 'updateMember',
    method: 'put',
    path: '/api/v1/account/members/:id',
    access: 'account-members',
    tag: 'account',
    summary: 'Change the role of a member in the organization',
    params: byUuid,
    body: z.strictObject({ org_role: orgRole, keys: keysOfMember }),
    reply: z.object({
      member,
      keys: z
        .array(apiKey)
        .meta({ description: 'The keys of the member that were revoked, or have another owner now' }),
    }),
    problems: ['no_organization', 'not_found', 'last_org_admin'],
  }),
  removeMember: endpoint({
    operationId: 'removeMember',
    method: 'delete',
    path: '/api/v1/account/members/:id',
    access: 'account-members',
    tag: 'account',
    summary:
      'Remove a member from the organization. The keys that the member owns are revoked unless the caller keeps them',
    params: byUuid,
    query: z.strictObject({ keys: keysOfMember }),
    status: 204,
    reply: z.void(),
    problems: ['no_organization', 'not_found', 'last_org_admin'],
  }),
  listInvitations: endpoint({
    operationId: 'listInvitations',
    method: 'get',
    path: '/api/v1/account/invitations',
    access: 'account-members',
    tag: 'account',
    summary: 'List the open invitations to the organization',
    query: z.strictObject(paging),
    reply: z.object({ invitations: z.array(invitation), pagination }),
    problems: ['no_organization'],
  }),
  inviteMember: endpoint({
    operationId: 'inviteMember',
    method: 'post',
    path: '/api/v1/account/invitations',
    access: 'account-members',
    tag: 'account',
    summary: `Invite a user to the organization, while the caller is an org_admin. An organization has at most ${MAX_INVITATIONS} open invitations`,
    body: z.strictObject({
      email: email.nullable().default(null).meta({
        description: 'Only a user with this verified e-mail address can accept; null: everybody with the code',
      }),
      org_role: orgRole.default('member'),
    }),
    status: 201,
    reply: z.object({
      invitation: invitation.extend({
        code: z.string().meta({ description: 'For `POST /account/members`. It is shown only in this response' }),
      }),
    }),
    secret: true,
    problems: ['no_organization', 'too_many_invitations'],
  }),
  withdrawInvitation: endpoint({
    operationId: 'withdrawInvitation',
    method: 'delete',
    path: '/api/v1/account/invitations/:id',
    access: 'account-members',
    tag: 'account',
    summary: 'Withdraw an invitation',
    params: byUuid,
    status: 204,
    reply: z.void(),
    problems: ['no_organization', 'not_found'],
  }),
};
